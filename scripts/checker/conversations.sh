#!/bin/sh
# Compares the conversations of `evaluate --ask` with those of the official handler, for all multi-turn entries, in both modes:
#
#     scripts/checker/conversations.sh [CALLSIEVE]
#
# The dataset is that of the package bfcl-eval, which `parity.sh` installs; the SDK of OpenAI, which the handler uses, is installed
# into a temporary folder. Exit 1 on any difference.
set -eu

here=$(dirname "$0")
callsieve=${1:-target/debug/callsieve}
venv=${BFCL_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/callsieve/bfcl-venv}
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
BFCL_PROJECT_ROOT=$folder
export BFCL_PROJECT_ROOT
"$venv/bin/python" -m pip install --quiet --no-warn-conflicts --target "$folder/sdk" openai
python() { PYTHONPATH=$folder/sdk "$venv/bin/python" -W ignore "$@"; }
dataset=$folder/dataset
mkdir -p "$dataset/possible_answer"
questions=$("$venv/bin/python" -W ignore "$here/record.py" --paths "$folder/unused" | sed -n 1p)
cp "$questions"/BFCL_v4_multi_turn_*.json "$dataset"
cp "$questions"/possible_answer/BFCL_v4_multi_turn_*.json "$dataset/possible_answer"

serve() {
    port=$(python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    PYTHONPATH=$folder/sdk "$venv/bin/python" -W ignore "$here/conversations.py" serve "$port" "$1" &
    server=$!
    until python -c "import socket; socket.create_connection(('127.0.0.1', $port))" 2> "$folder/none"; do sleep 0.2; done
}

status=0
for mode in prompt fc; do
    serve "$folder/$mode.ours.requests.jsonl"
    OPENAI_BASE_URL=http://127.0.0.1:$port OPENAI_API_KEY=none "$callsieve" evaluate --dataset "$dataset" --engine official \
        --ask gpt-x.1/a --ask-mode "$mode" --save "$folder/$mode.ours.results.jsonl" > "$folder/scores" 2> "$folder/messages" ||
        cat "$folder/messages"
    kill "$server"
    serve "$folder/$mode.theirs.requests.jsonl"
    python "$here/conversations.py" official "$port" "$mode" "$folder/$mode.theirs.results.jsonl"
    kill "$server"
    server=
    python "$here/conversations.py" compare "$folder/$mode.ours" "$folder/$mode.theirs" || status=1
done
exit $status
