#!/usr/bin/env bash
# Makes the wheel of the Python package: python_wheel.sh [FOLDER], by default dist/. It needs maturin (`pip install maturin`).
#
# One wheel serves every Python from 3.10 on this platform. The licences of what is in it are beside it, in THIRD-PARTY.md.
set -euo pipefail
out=$(realpath -m "${1:-dist}")
cd "$(dirname "$0")/../python"
maturin build --release --locked --out "$out"
../scripts/licences.py > "$out/THIRD-PARTY.md"
