#!/bin/sh
# Compares the checker with the official evaluator on outputs recorded now: parity.sh [--per-category N] [--only A,B]
#
# Prints the differences by class; exit 1 on any.
set -eu

here=$(dirname "$0")
. "$here/../bfcl_environment.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
BFCL_PROJECT_ROOT=$folder
export BFCL_PROJECT_ROOT
"$venv/bin/python" -W ignore "$here/record.py" "$folder/recorded.jsonl" "$@"
"$venv/bin/python" -W ignore "$here/record.py" --paths "$folder/unused" > "$folder/paths"
cargo run --quiet --example checker_parity -- "$folder/recorded.jsonl" "$(sed -n 1p "$folder/paths")" \
    "$(sed -n 2p "$folder/paths")"
