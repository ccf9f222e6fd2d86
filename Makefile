# Everything that a clone can do.  Needs git and Python 3.11 or newer; each target sets up .venv by itself.

.PHONY: help demo mcp test test-all test-cluster test-servers test-runners test-llm check docs lock bench fuzz mutate clean
.NOTPARALLEL:

# Where the caller forbids it, every process of the tests would compile the product, and pytest all tests, over again.
unexport PYTHONDONTWRITEBYTECODE

define pytest
@sh dev/setup.sh dev
@sh dev/end_to_end.sh
@.venv/bin/python -m dev.weights small >/dev/null
@.venv/bin/python -m pytest --numprocesses=auto --dist=loadfile --no-loadscope-reorder
endef

help:  ## this list
	@sed -n 's/^\([a-z-]*\): *## */  make \1	/p' Makefile

demo:  ## review an example customer's eval set against the regression set of this repository
	@sh dev/setup.sh run
	@echo "Reviewing the eval set of examples/customers/northwind-tracker/tracker against this repository's regression set; this is the verdict comment (nothing is written; --format text suits a terminal):"
	@echo
	@.venv/bin/incumbent review examples/customers/northwind-tracker/tracker --repo . --customer northwind-tracker --agent tracker --format markdown

mcp:  ## set up `incumbent mcp`, for chat assistants (docs/mcp.md)
	@sh dev/setup.sh mcp

test:  ## the tests of each rule, on all processors, in eight minutes; make test ARGS="-k verdict" passes arguments to pytest
	$(pytest) -m "not exhaustive" --hypothesis-profile=gate $(ARGS)

test-all:  ## all tests: also the variants of what `make test` tries one of each kind of, and new examples
	$(pytest) $(ARGS)

test-cluster:  ## the tests on a Ray cluster of three local nodes; installs Ray into .venv (500 MB), once; Linux
	@sh dev/setup.sh cluster
	@INCUMBENT_RAY=required .venv/bin/python -m pytest tests/triage/test_cluster.py $(ARGS)

test-servers:  ## the tests with a real model against every model server; compiles one of them, once
	@sh dev/setup.sh dev
	@.venv/bin/python -m dev.weights small >/dev/null
	@sh dev/model_server.sh
	@INCUMBENT_MODEL=all .venv/bin/python -m pytest tests/model $(ARGS)

test-runners:  ## the tests with the packages that exports are for; installs them (2.8 GB), once
	@sh dev/setup.sh dev
	@sh dev/runners.sh
	@INCUMBENT_RUNNERS="$$(pwd)/.venv-runners" .venv/bin/python -m pytest -rs tests/runners $(ARGS)

test-llm:  ## measure a model of 1.5 billion parameters (1.1 GB, fetched once): make test-llm ARGS="--labels FILE"
	@sh dev/setup.sh dev
	@.venv/bin/python -m dev.weights large >/dev/null
	@.venv/bin/python -m dev.large_model $(ARGS)

check:  ## the static checks: lint, format, types, unsafe code, and that the installed packages agree
	@sh dev/setup.sh dev
	@failed=0; \
	for each in "ruff check" "ruff format --check" "mypy" "bandit --quiet --configfile pyproject.toml --recursive bot dev --exclude dev/bench" "python -m pip --disable-pip-version-check check"; do \
		echo "$$each"; .venv/bin/$$each || failed=1; \
	done; \
	exit $$failed

docs:  ## the documentation as pages with a search, in build/docs
	@sh dev/setup.sh run
	@sh dev/docs/build.sh

bench:  ## the benchmarks, as ratios measured in one run
	@sh dev/setup.sh dev
	@.venv/bin/python -m dev.bench $(ARGS)

fuzz:  ## fuzz the readers with coverage: make fuzz SECONDS=600; Linux and Python 3.11
	@sh dev/setup.sh dev
	@SECONDS_TO_RUN=$(SECONDS) sh dev/fuzz.sh $(ARGS)

mutate:  ## whether tests fail for each small change of the rules that decide (hours); make mutate ARGS="--sample 100"; ARGS="--edges --sample 500" at the edges
	@sh dev/setup.sh dev
	@sh dev/mutate.sh $(ARGS)

lock:  ## requirements/*.txt anew from pyproject.toml; needs uv; make lock UPGRADE=1 takes newer versions
	@sh dev/lock.sh

clean:  ## remove what the other targets made, .venv included
	rm -rf mutants .venv .venv-docs .venv-model .venv-runners dev/docs/node_modules tests/e2e/node_modules tests/mcp_server/inspector/node_modules dev/site/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage build dist
	find bot tests dev -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
