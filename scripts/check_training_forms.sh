#!/bin/sh
# Loads an instruction set as trainers load it, with datasets, TRL, Axolotl and LLaMA-Factory: check_training_forms.sh out/<run>
#
# Each trainer has an environment of its own (under $TRAINING_VENVS) with the version of datasets that it asks for. PyTorch is in
# none of them: its packages hold more than 3 GB, and no row needs it to be read.
set -eu

venvs=${TRAINING_VENVS:-${XDG_CACHE_HOME:-$HOME/.cache}/callsieve/training-venvs}
here=$(dirname "$0")

# 3: the set was not loaded, because the libraries cannot be installed here.
environment() {
    name=$1 package=$2
    shift 2
    if [ ! -e "$venvs/$name/$package" ]; then
        rm -rf "${venvs:?}/$name"
        python3 -m venv "$venvs/$name" || exit 3
        "$venvs/$name/bin/pip" install --quiet "$@" >&2 || exit 3
        "$venvs/$name/bin/pip" install --quiet --no-deps "$package" >&2 || exit 3
        touch "$venvs/$name/$package"
    fi
}

environment trl trl==1.16.0 datasets==5.2.0 transformers==5.24.0 jinja2==3.1.6
environment axolotl axolotl==0.19.0 datasets==4.8.4 transformers==5.16.1 jinja2==3.1.6 pydantic addict colorama
environment llama-factory llamafactory==0.9.5 datasets==4.0.0
"$venvs/trl/bin/python" "$here/check_training_forms.py" "$@"
"$venvs/axolotl/bin/python" "$here/check_training_forms.py" "$@"
exec "$venvs/llama-factory/bin/python" "$here/check_training_forms.py" "$@"
