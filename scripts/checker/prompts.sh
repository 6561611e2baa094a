#!/bin/sh
# Compares the requests of `evaluate --ask` with those of the official handler, for all single-turn entries, in both modes:
#
#     scripts/checker/prompts.sh [CALLSIEVE]
#
# The dataset is that of the package bfcl-eval, which `parity.sh` installs. Exit 1 on any difference.
set -eu

here=$(dirname "$0")
callsieve=${1:-target/debug/callsieve}
venv=${BFCL_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/callsieve/bfcl-venv}
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
BFCL_PROJECT_ROOT=$folder
export BFCL_PROJECT_ROOT
dataset=$("$venv/bin/python" -W ignore "$here/record.py" --paths "$folder/unused" | sed -n 1p)
port=$("$venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$venv/bin/python" "$here/echo_server.py" "$port" "$folder/received.jsonl" &
server=$!
OPENAI_BASE_URL=http://127.0.0.1:$port
OPENAI_API_KEY=none
export OPENAI_BASE_URL OPENAI_API_KEY
status=0
for mode in prompt fc; do
    : > "$folder/received.jsonl"
    "$callsieve" evaluate --dataset "$dataset" --ask echo --ask-mode "$mode" --save "$folder/$mode.jsonl" > "$folder/scores"
    "$venv/bin/python" -W ignore "$here/prompts.py" "$folder/received.jsonl" "$mode" || status=1
done
exit $status
