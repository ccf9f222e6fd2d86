#!/bin/sh
# Build the documentation into build/docs, from README.md and docs/ as they are.  Called by `make docs`.  Sphinx is
# installed into an environment of its own, .venv-docs, pinned and hashed in requirements/docs.txt.  Diagrams need npm:
# without it they are shown as text.  A warning is an error.
# Exit codes: 0 done; 1 the documentation is at fault; 2 .venv is missing; 4 the packages could not be installed.
set -eu
unset CDPATH PYTHONHOME PYTHONPATH
cd "$(dirname "$0")/../.."

say() { printf 'docs: %s\n' "$*" >&2; }

[ -x .venv/bin/python ] || { say ".venv is missing: run \`sh dev/setup.sh run\` first"; exit 2; }
venv=.venv-docs
state=$venv/incumbent-setup
wanted=$( (cat requirements/docs.txt "$0"; .venv/bin/python -VV; pwd -P) | cksum | tr ' \t' '--')
if [ "$(cat "$state" 2>/dev/null)" != "$wanted" ]; then
    say "setting up $venv"
    rm -rf "$venv"
    .venv/bin/python -m venv "$venv"
    "$venv/bin/python" -m pip --disable-pip-version-check --no-input install -qq --no-deps --require-hashes \
        --only-binary :all: --requirement requirements/docs.txt >&2 || exit 4
    echo "$wanted" >"$state"
fi

ready=dev/docs/node_modules/.incumbent-lock
if ! cmp -s dev/docs/package-lock.json "$ready"; then
    if npm --version >/dev/null 2>&1; then
        (cd dev/docs && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2) || exit 4
        cp dev/docs/package-lock.json "$ready"
    else
        say "npm is missing, so diagrams are shown as text"
    fi
fi
INCUMBENT_MERMAID=
[ ! -f "$ready" ] || INCUMBENT_MERMAID=$(pwd)/dev/docs/node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js
export INCUMBENT_MERMAID

rm -rf build/docs
"$venv/bin/python" -m sphinx --quiet --fail-on-warning --keep-going --fresh-env --conf-dir dev/docs \
    --doctree-dir build/doctrees . build/docs || exit 1
say "open build/docs/index.html"
