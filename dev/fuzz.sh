#!/bin/sh
# Fuzz the readers for SECONDS (600 by default); inputs are kept in build/fuzz/inputs, what fails in build/fuzz/crash-….
# atheris is installed beside, not into .venv: it comes ready to run for Linux and Python 3.11 alone.
# Exit codes: 0 nothing was found; 1 something was; 2 atheris cannot be installed here.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."

packages=build/fuzz/packages
if ! PYTHONPATH=$packages .venv/bin/python -c "import atheris" 2>/dev/null; then
    .venv/bin/python -m pip --disable-pip-version-check install -qq --no-deps --require-hashes --only-binary :all: \
        --upgrade --target "$packages" --requirement requirements/fuzz.txt || exit 2
    PYTHONPATH=$packages .venv/bin/python -c "import atheris" || {
        echo "fuzz: atheris does not run here; it needs Linux and Python 3.11" >&2
        exit 2
    }
fi
mkdir -p build/fuzz/inputs
PYTHONPATH=$packages:. exec .venv/bin/python -m tests.fuzz.run build/fuzz/inputs -max_total_time="${SECONDS_TO_RUN:-600}" \
    -max_len=60000 -timeout=60 -rss_limit_mb=1500 -artifact_prefix=build/fuzz/ "$@"
