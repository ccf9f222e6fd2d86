#!/bin/sh
# Install the browser that the tests of the site need, Debian's chromium by apt-get, or find one ready.  Where apt-get is
# missing or the user is not root nothing is done: those tests skip and say so, or fail where they are required.
# Exit codes: 0 ready, or not possible here; 4 it could not be installed.
set -eu

for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" != 0 ]; then
    echo "browser: none is on PATH, and apt-get or root is missing; on Debian: apt-get install chromium" >&2
    exit 0
fi
echo "browser: installing chromium" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2 || exit 4
apt-get install -qq --yes --no-install-recommends chromium fonts-dejavu-core >&2 || exit 4
