#!/bin/sh
# Compile the model server llama-cpp-python into an environment of its own, .venv-model, or find it ready.  Needs .venv
# and a C++ compiler; takes three to five minutes of processor time, once: what was compiled is kept in the user's cache
# folder.  Everything is pinned and hashed in requirements/model_server.txt.
# Exit codes: 0 ready; 2 something is missing on this machine; 4 the packages could not be fetched or compiled.
set -eu
unset CDPATH PYTHONHOME PYTHONPATH
cd "$(dirname "$0")/.."

venv=.venv-model
state=$venv/incumbent-setup
requirements=requirements/model_server.txt
server=llama-cpp-python

say() { printf 'model server: %s\n' "$*" >&2; }

pip() { "$venv/bin/python" -m pip --disable-pip-version-check --no-input "$@" >&2; }

# $1: 1 for the block of the server, 0 for the blocks of all other packages.
block() { awk -v wanted="$1" -v name="^$server==" '/^[A-Za-z]/ { own = ($0 ~ name) } /^#/ { next } own == wanted' "$requirements"; }

[ -x .venv/bin/python ] || { say ".venv is missing: run \`sh dev/setup.sh dev\` first"; exit 2; }
wanted=$( (cat "$requirements" "$0" dev/model_server.cmake; .venv/bin/python -VV; uname -sm; pwd -P) | cksum | tr ' \t' '--')
[ "$(cat "$state" 2>/dev/null)" != "$wanted" ] || exit 0
c++ --version >/dev/null 2>&1 || { say "a C++ compiler is missing: \`apt install g++\`, \`xcode-select --install\`"; exit 2; }

say "setting up $venv"
rm -rf "$venv"
.venv/bin/python -m venv "$venv"
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
block 0 >"$lists/others.txt"
block 1 >"$lists/server.txt"
pip install -qq --no-deps --require-hashes --only-binary :all: --requirement "$lists/others.txt" || exit 4

# The compiled package depends on its source, on how it is compiled and on the machine, not on this folder.
key=$( (cat "$lists/server.txt" "$0" dev/model_server.cmake; uname -sm) | cksum | tr ' \t' '--')
cache=$(.venv/bin/python -c 'import os; from incumbent.files.user_cache import user_cache_folder as folder; print(folder(os.environ) or "")')
kept=${cache:-$venv}/model-server/$key
if ! ls "$kept"/*.whl >/dev/null 2>&1; then
    say "compiling $server (once; three to five minutes)"
    # One build for any machine of its kind (no -march=native), quick to compile rather than quick to run.
    CMAKE_ARGS="-DCMAKE_PROJECT_llama.cpp_INCLUDE='$(pwd -P)/tools/model_server.cmake' -DCMAKE_CXX_FLAGS_RELEASE=-O1
        -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DLLAMA_OPENSSL=OFF -DLLAVA_BUILD=OFF -DLLAMA_BUILD_TOOLS=OFF
        -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF" \
        PATH="$(pwd -P)/$venv/bin:$PATH" nice -n 10 "$venv/bin/python" -m pip --disable-pip-version-check --no-input \
        wheel -q --no-deps --no-build-isolation --no-binary :all: --require-hashes --no-cache-dir \
        --requirement "$lists/server.txt" --wheel-dir "$lists/built" >&2 || exit 4
    mkdir -p "$kept"
    mv "$lists"/built/*.whl "$kept/"
fi
pip install -qq --no-deps --no-index "$kept"/*.whl || exit 4
echo "$wanted" >"$state"
