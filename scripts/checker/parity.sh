#!/bin/sh
# Compares the checker with the official evaluator on outputs recorded now: parity.sh [--per-category N] [--only A,B]
#
# Installs the official package as check_official.sh does. Prints the differences by class; exit 1 on any.
set -eu

here=$(dirname "$0")
venv=${BFCL_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/callsieve/bfcl-venv}
if ! "$venv/bin/python" -c 'import bfcl_eval, tree_sitter, filelock, tenacity' 2>/dev/null; then
    # 3: nothing was compared, because the package cannot be installed here.
    python3 -m venv "$venv" || exit 3
    "$venv/bin/pip" install --quiet --no-deps bfcl-eval==2026.3.23 tree_sitter==0.21.3 \
        tree-sitter-java==0.21.0 tree-sitter-javascript==0.21.4 tenacity filelock >&2 || exit 3
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
BFCL_PROJECT_ROOT=$folder
export BFCL_PROJECT_ROOT
"$venv/bin/python" -W ignore "$here/record.py" "$folder/recorded.jsonl" "$@"
"$venv/bin/python" -W ignore "$here/record.py" --paths "$folder/unused" > "$folder/paths"
cargo run --quiet --example checker_parity -- "$folder/recorded.jsonl" "$(sed -n 1p "$folder/paths")" \
    "$(sed -n 2p "$folder/paths")"
