#!/bin/sh
# Checks a run's dataset with the official BFCL package: check_official.sh out/<run> [--json]
#
# The package is installed in a separate environment ($BFCL_VENV), without the model vendors' SDKs that it depends on.
set -eu

venv=${BFCL_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/callsieve/bfcl-venv}
if ! "$venv/bin/python" -c 'import bfcl_eval, tree_sitter, filelock, tenacity' 2>/dev/null; then
    # 3: the dataset was not checked, because the package cannot be installed here.
    python3 -m venv "$venv" || exit 3
    "$venv/bin/pip" install --quiet --no-deps bfcl-eval==2026.3.23 tree_sitter==0.21.3 \
        tree-sitter-java==0.21.0 tree-sitter-javascript==0.21.4 tenacity filelock >&2 || exit 3
fi
exec "$venv/bin/python" "$(dirname "$0")/check_official.py" "$@"
