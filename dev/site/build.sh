#!/bin/sh
# Write bot/incumbent/site/assets/site.js from dev/site/table.js and the pinned packages of dev/site/package-lock.json, with their
# licences.  `build.sh --check` compares instead.  Needs Node and npm.
# Exit codes: 0 done, or the same; 1 it differs; 4 the packages could not be installed.
set -eu
unset CDPATH
cd "$(dirname "$0")"

ready=node_modules/.incumbent-lock
if ! cmp -s package-lock.json "$ready"; then
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2 || exit 4
    cp package-lock.json "$ready"
fi
made=$(mktemp)
trap 'rm -f "$made"' EXIT
{
    printf '/*! Incumbent: dev/site/table.js, with @tanstack/table-core and @tanstack/store.\n\n'
    cat node_modules/@tanstack/table-core/LICENSE
    printf '*/\n'
    node_modules/.bin/esbuild table.js --bundle --minify --format=iife --target=es2020 --legal-comments=none --log-level=warning
} >"$made"
if [ "${1:-}" = --check ]; then
    cmp "$made" ../../bot/incumbent/site/assets/site.js
else
    cat "$made" >../../bot/incumbent/site/assets/site.js
fi
