#!/usr/bin/env bash
# Builds the Python package in the dev profile, runs its tests and compares its stubs with it: check_python.sh [PROGRAM]
#
# PROGRAM is the command whose bytes the package must write too; without one, the package's own command is compared with.
# Exits with 3 if the environment cannot be made.
set -euo pipefail
program=${1:+$(realpath "$1")}
cd "$(dirname "$0")/../python"

venv=${PYTHON_PACKAGE_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/callsieve/python-venv}
if [ -n "$program" ]; then
    export CALLSIEVE_PROGRAM="$program"
fi
if ! "$venv/bin/python" -c "import maturin, pytest, mypy, pyarrow, pandas, polars, duckdb, datasets, mlcroissant, ray" 2>/dev/null; then
    python3 -c "import sys; sys.exit(sys.version_info < (3, 10))" || exit 3
    python3 -m venv "$venv" || exit 3
    "$venv/bin/pip" install --quiet "maturin>=1.14,<2" pytest mypy pyarrow pandas polars duckdb datasets mlcroissant ray >&2 || exit 3
fi
export VIRTUAL_ENV=$venv PATH="$venv/bin:$PATH"

# The profile of `cargo run` and `cargo test`, so that the dependencies are built already.
maturin develop --quiet --locked --profile dev
pytest --quiet
python -m mypy.stubtest callsieve
