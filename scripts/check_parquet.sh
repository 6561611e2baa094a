#!/bin/sh
# Reads a run's Parquet files with pyarrow 14, pandas, duckdb and datasets 3: check_parquet.sh out/<run>
#
# The libraries are installed in two separate environments (under $PARQUET_VENVS), because datasets 3 needs a newer
# pyarrow.
set -eu

venvs=${PARQUET_VENVS:-${XDG_CACHE_HOME:-$HOME/.cache}/callsieve/parquet-venvs}
here=$(dirname "$0")

# 3: the files were not checked, because the libraries cannot be installed here.
environment() {
    name=$1 imports=$2
    shift 2
    if ! "$venvs/$name/bin/python" -c "import $imports" 2>/dev/null; then
        python3 -m venv "$venvs/$name" || exit 3
        "$venvs/$name/bin/pip" install --quiet "$@" >&2 || exit 3
    fi
}

environment oldest pyarrow,pandas,duckdb pyarrow==14.0.2 numpy==1.26.4 pandas==3.0.6 duckdb==2.0.0
environment datasets datasets datasets==3.6.0
"$venvs/oldest/bin/python" "$here/check_parquet.py" "$@"
exec "$venvs/datasets/bin/python" "$here/check_parquet.py" "$@"
