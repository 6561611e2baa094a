#!/bin/sh
# Makes instructions over BFCL's stateful classes, and checks them with the official multi-turn checker:
# check_multi_turn.sh PROGRAM [NUMBER OF INSTRUCTIONS] [RUN FOLDER]
#
# PROGRAM is the built callsieve.
set -eu

program=$1
accept=${2:-100}
out=${3:-out/ci-multi-turn}
here=$(dirname "$0")
. "$here/bfcl_environment.sh"
classes=$here/../examples/bfcl-classes
# The environment file names `python3`: the one of the package.
PATH="$venv/bin:$PATH" "$program" generate "$classes/environment.toml" --bindings "$classes/bindings.toml" \
    --accept "$accept" --out "$out" --fresh --quiet >/dev/null
exec "$venv/bin/python" "$here/check_multi_turn.py" "$out"
