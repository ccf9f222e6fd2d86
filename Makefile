# Everything that a clone can do.  Needs git and Python 3.11 or newer; each target sets up .venv by itself.

.PHONY: help demo mcp test test-cluster test-servers test-runners test-llm check lock bench fuzz clean
.NOTPARALLEL:

# Where the caller forbids it, every process of the tests would compile the product, and pytest all tests, over again.
unexport PYTHONDONTWRITEBYTECODE

help:  ## this list
	@sed -n 's/^\([a-z-]*\): *## */  make \1	/p' Makefile

demo:  ## review an example customer's eval set against the regression set of this repository
	@sh tools/setup.sh run
	@echo "Reviewing the eval set of examples/customers/northwind-tracker/tracker against this repository's regression set; this is the verdict comment (nothing is written; --format text suits a terminal):"
	@echo
	@.venv/bin/incumbent review examples/customers/northwind-tracker/tracker --repo . --customer northwind-tracker --agent tracker --format markdown

mcp:  ## set up `incumbent mcp`, for chat assistants (docs/mcp.md)
	@sh tools/setup.sh mcp

test:  ## the tests, on all processors; make test ARGS="-k verdict" passes arguments to pytest
	@sh tools/setup.sh dev
	@sh tools/end_to_end.sh
	@.venv/bin/python -m tools.weights small >/dev/null
	@.venv/bin/python -m pytest --numprocesses=auto --dist=loadfile $(ARGS)

test-cluster:  ## the tests on a Ray cluster of three local nodes; installs Ray into .venv (500 MB), once; Linux
	@sh tools/setup.sh cluster
	@INCUMBENT_RAY=required .venv/bin/python -m pytest tests/triage/test_cluster.py $(ARGS)

test-servers:  ## the tests with a real model against every model server; compiles one of them, once
	@sh tools/setup.sh dev
	@.venv/bin/python -m tools.weights small >/dev/null
	@sh tools/model_server.sh
	@INCUMBENT_MODEL=all .venv/bin/python -m pytest tests/model $(ARGS)

test-runners:  ## the tests with the packages that exports are for; installs them (2.8 GB), once
	@sh tools/setup.sh dev
	@sh tools/runners.sh
	@INCUMBENT_RUNNERS="$$(pwd)/.venv-runners" .venv/bin/python -m pytest -rs tests/runners $(ARGS)

test-llm:  ## measure a model of 1.5 billion parameters (1.1 GB, fetched once): make test-llm ARGS="--labels FILE"
	@sh tools/setup.sh dev
	@.venv/bin/python -m tools.weights large >/dev/null
	@.venv/bin/python -m tools.large_model $(ARGS)

check:  ## the static checks: lint, format, types, unsafe code, and that the installed packages agree
	@sh tools/setup.sh dev
	@failed=0; \
	for each in "ruff check" "ruff format --check" "mypy" "bandit --quiet --configfile pyproject.toml --recursive bot tools" "python -m pip --disable-pip-version-check check"; do \
		echo "$$each"; .venv/bin/$$each || failed=1; \
	done; \
	exit $$failed

bench:  ## the benchmarks, as ratios measured in one run
	@sh tools/setup.sh dev
	@.venv/bin/python -m bench $(ARGS)

fuzz:  ## fuzz the readers with coverage: make fuzz SECONDS=600; Linux and Python 3.11
	@sh tools/setup.sh dev
	@SECONDS_TO_RUN=$(SECONDS) sh tools/fuzz.sh $(ARGS)

lock:  ## requirements/*.txt anew from pyproject.toml; needs uv; make lock UPGRADE=1 takes newer versions
	@sh tools/lock.sh

clean:  ## remove what the other targets made, .venv included
	rm -rf .venv .venv-model .venv-runners tests/e2e/node_modules tests/mcp_server/inspector/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage build dist
	find bot tests tools bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
