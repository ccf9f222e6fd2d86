#!/bin/sh
# Install the packages that exports are tested with into environments of their own, .venv-runners/NAME, or find them
# ready: pinned and hashed in requirements/runner_*.txt and tests/runners/package-lock.json.  Needs .venv; promptfoo needs
# npm too, and is left out without it: its test then skips and says so.
# Exit codes: 0 ready; 2 .venv is missing; 4 the packages could not be installed.
set -eu
unset CDPATH PYTHONHOME PYTHONPATH
cd "$(dirname "$0")/.."

say() { printf 'runners: %s\n' "$*" >&2; }

[ -x .venv/bin/python ] || { say ".venv is missing: run \`sh dev/setup.sh dev\` first"; exit 2; }
for name in inspect deepeval azure; do
    venv=.venv-runners/$name
    state=$venv/incumbent-setup
    requirements=requirements/runner_$name.txt
    wanted=$( (cat "$requirements" "$0"; .venv/bin/python -VV; pwd -P) | cksum | tr ' \t' '--')
    [ "$(cat "$state" 2>/dev/null)" != "$wanted" ] || continue
    say "setting up $venv"
    rm -rf "$venv"
    .venv/bin/python -m venv "$venv"
    "$venv/bin/python" -m pip --disable-pip-version-check --no-input install -qq --require-hashes --only-binary :all: \
        --requirement "$requirements" >&2 || exit 4
    echo "$wanted" >"$state"
done

ready=.venv-runners/promptfoo
if cmp -s tests/runners/package-lock.json "$ready/.incumbent-lock"; then exit 0; fi
if ! npm --version >/dev/null 2>&1; then
    say "npm is missing, so promptfoo is left out"
    exit 0
fi
say "setting up $ready"
rm -rf "$ready"
mkdir -p "$ready"
cp tests/runners/package.json tests/runners/package-lock.json tests/runners/.npmrc "$ready/"
(cd "$ready" && npm ci --ignore-scripts --loglevel=error >&2) || exit 4
cp tests/runners/package-lock.json "$ready/.incumbent-lock"
