#!/bin/sh
# Compares the decoders of models with the official handlers on outputs made now: handlers.sh [--per-decoder N] [--seed N]
#
# Prints equal results by decoder; exit 1 if any differs. The outputs are of one model of each class of handlers.
set -eu

here=$(dirname "$0")
. "$here/../bfcl_environment.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
BFCL_PROJECT_ROOT=$folder
export BFCL_PROJECT_ROOT
"$venv/bin/python" -W ignore "$here/handlers.py" "$folder/recorded.jsonl" "$@"
cargo run --quiet -p callsieve-checker --example handler_parity -- "$folder/recorded.jsonl"
