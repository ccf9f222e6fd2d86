#!/bin/sh
# Install what the end-to-end tests need from npm (an emulator of GitHub, its API description, its event payloads), pinned
# and hashed in tests/e2e/package-lock.json, or find it ready.  Without npm nothing is done: those tests skip and say so.
# Exit codes: 0 ready, or no npm; 4 the packages could not be installed.
set -eu
unset CDPATH
cd "$(dirname "$0")/../tests/e2e"

ready=node_modules/.incumbent-lock
if cmp -s package-lock.json "$ready"; then exit 0; fi
if ! npm --version >/dev/null 2>&1; then
    echo "end-to-end tests: npm is missing, so they are skipped" >&2
    exit 0
fi
echo "end-to-end tests: installing the packages of tests/e2e/package-lock.json" >&2
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2 || exit 4
cp package-lock.json "$ready"
