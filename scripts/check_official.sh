#!/bin/sh
# Checks a run's dataset with the official BFCL package: check_official.sh out/<run> [--json]
set -eu

here=$(dirname "$0")
. "$here/bfcl_environment.sh"
exec "$venv/bin/python" "$here/check_official.py" "$@"
