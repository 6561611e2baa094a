# Sets `venv` to an environment with the official BFCL package ($BFCL_VENV), and makes it if it is not there. Exits with 3 if the
# package cannot be installed here: nothing was checked then. Sourced by scripts that run the package.
#
# The model vendors' SDKs that the package depends on are left out.
venv=${BFCL_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/callsieve/bfcl-venv}
if ! "$venv/bin/python" -c 'import bfcl_eval, filelock, mpmath, tenacity, tree_sitter' 2>/dev/null; then
    python3 -m venv "$venv" || exit 3
    "$venv/bin/pip" install --quiet --no-deps bfcl-eval==2026.3.23 tree_sitter==0.21.3 tree-sitter-java==0.21.0 \
        tree-sitter-javascript==0.21.4 tenacity filelock mpmath==1.3.0 >&2 || exit 3
fi
