#!/bin/sh
# Makes instructions over BFCL's stateful classes, and checks them with the official multi-turn checker:
# check_multi_turn.sh PROGRAM [NUMBER OF INSTRUCTIONS] [RUN FOLDER]
#
# PROGRAM is the built callsieve. The package is that of check_official.sh ($BFCL_VENV).
set -eu

program=$1
accept=${2:-100}
out=${3:-out/ci-multi-turn}
here=$(dirname "$0")
venv=${BFCL_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/callsieve/bfcl-venv}
if ! "$venv/bin/python" -c 'import bfcl_eval, filelock, mpmath, tenacity' 2>/dev/null; then
    # 3: nothing was checked, because the package cannot be installed here.
    python3 -m venv "$venv" || exit 3
    "$venv/bin/pip" install --quiet --no-deps bfcl-eval==2026.3.23 tree_sitter==0.21.3 tree-sitter-java==0.21.0 \
        tree-sitter-javascript==0.21.4 tenacity filelock mpmath==1.3.0 >&2 || exit 3
fi
classes=$here/../examples/bfcl-classes
# The environment file names `python3`: the one of the package.
PATH="$venv/bin:$PATH" "$program" generate "$classes/environment.toml" --bindings "$classes/bindings.toml" \
    --accept "$accept" --out "$out" --fresh --quiet >/dev/null
exec "$venv/bin/python" "$here/check_multi_turn.py" "$out"
