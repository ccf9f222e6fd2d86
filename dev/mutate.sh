#!/bin/sh
# Try mutants of the rules that decide (dev/mutate.py).  mutmut is installed beside, not into .venv, which is made for all
# tests; both share their versions.  Exit codes are those of dev/mutate.py; 2 also where mutmut cannot be installed here.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."

# A mutant that never ends may fill the memory first: 8 GB are enough for any other.  Not every system knows this limit.
ulimit -v 8000000 2>/dev/null || true
case " $* " in
*" --edges "*) exec .venv/bin/python -m dev.mutate "$@" ;;
esac

packages=build/mutation/packages
if ! cmp -s requirements/mutation.txt "$packages/installed.txt"; then
    rm -rf "$packages"
    .venv/bin/python -m pip --disable-pip-version-check install -qq --no-deps --require-hashes --only-binary :all: \
        --target "$packages" --requirement requirements/mutation.txt || exit 2
    cp requirements/mutation.txt "$packages/installed.txt"
fi
# mutmut takes a module's name from its path, and knows `src/` alone as a folder that is no part of it.
[ ! -e src ] || { echo "mutate: src is in the way" >&2; exit 2; }
ln -s bot src
trap 'rm -f src' EXIT
trap 'exit 130' INT TERM
code=0
PYTHONPATH=$(pwd)/$packages .venv/bin/python -m dev.mutate "$@" || code=$?
exit "$code"
