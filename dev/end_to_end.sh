#!/bin/sh
# Install what tests need from npm, pinned and hashed in a package-lock.json each, or find it ready: an emulator of GitHub
# with its API description and event payloads (tests/e2e), the inspector of the Model Context Protocol
# (tests/mcp_server/inspector), and what the site's script is made of and its pages are tested with (dev/site).  Without
# npm nothing is done: those tests skip and say so.
# Exit codes: 0 ready, or no npm; 4 the packages could not be installed.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."

for folder in tests/e2e tests/mcp_server/inspector dev/site; do
    ready=$folder/node_modules/.incumbent-lock
    if cmp -s "$folder/package-lock.json" "$ready"; then continue; fi
    if ! npm --version >/dev/null 2>&1; then
        echo "end-to-end tests: npm is missing, so they are skipped" >&2
        exit 0
    fi
    echo "end-to-end tests: installing the packages of $folder/package-lock.json" >&2
    (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2) || exit 4
    cp "$folder/package-lock.json" "$ready"
done
