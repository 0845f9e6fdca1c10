# Each target sets up its own virtual environment first; nothing else has to be installed by hand.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
MINUTES ?= 10
ROUNDS ?= 10
# Laws, kernels beside their twins, the default method and its relatives, messages: see test-quick.
QUICK := tests/laws tests/flow tests/messages \
	$(addprefix tests/methods/test_,consensus.py confidence.py local_weights.py linkage_family.py) \
	$(addprefix --ignore=tests/flow/test_,kernel_cache.py large_walk.py)

.DEFAULT_GOAL := help
.PHONY: help run test test-quick lint rounds fuzz fuzz-bytes faults coverage mutants mistakes numbers test-matrix test-install release-check bench docs clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

$(READY): pyproject.toml
	@echo "Setting up $(VENV), once: some 110 packages are downloaded. This takes some minutes."
	$(PYTHON) -m venv $(VENV)
	@if [ -t 1 ]; then how="--progress-bar on"; else how=--quiet; fi; \
	$(BIN)/python -m pip install $$how --disable-pip-version-check --editable '.[dev]'
	@echo "$(VENV) is ready."
	@touch $@

run: $(READY)  ## set up, then the demonstration on real data
	@echo "The first run compiles kernels, which takes some seconds; later runs load them."
	$(BIN)/ensemblage demo -o demo
	@echo "The command is $(BIN)/ensemblage; '. $(BIN)/activate' makes it just ensemblage."
	@echo "Open the report in a browser: $(CURDIR)/demo/report.html"

test: $(READY)  ## set up, then every test and every docstring example
	$(BIN)/python -m pytest --numprocesses=auto --dist=worksteal

test-quick: $(READY)  ## the tests that notice most, few cases each, in less than two minutes
	$(BIN)/python -m pytest -q --hypothesis-profile=quick $(QUICK)

lint: $(READY)  ## style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

rounds: $(READY)  ## every test ROUNDS=10 times while the machine is busy: does one depend on luck?
	$(BIN)/python tools/rounds.py --rounds $(ROUNDS)

fuzz: $(READY)  ## new random ensembles against laws and slow twins, MINUTES=10 of them
	$(BIN)/python tools/fuzz.py --minutes $(MINUTES)

faults: $(READY)  ## disturbed runs, then kills at random points, MINUTES=10 of them
	ENSEMBLAGE_FAULTS=1 $(BIN)/python -m pytest tests/faults
	$(BIN)/python tools/kill_parts.py --kills 200
	$(BIN)/python tools/kill.py --minutes $(MINUTES)

fuzz-bytes: $(READY)  ## hostile bytes for every reader, guided by coverage, MINUTES=10 of them
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	$(BIN)/python tools/fuzz_bytes.py --minutes $(MINUTES)

coverage: $(READY)  ## branches of flow, methods and _validate that the tests take
	$(BIN)/python -m coverage run -m pytest -q --ignore=tests/report --ignore=tests/experiments --ignore=tests/test_documents.py
	PYTHONPATH=tests $(BIN)/python -m coverage run --append -m pytest -q -p plain_kernels tests/flow tests/numbers tests/methods/test_*_family.py tests/methods/test_other_rivals.py tests/methods/test_ecpcs.py tests/methods/test_mcla.py tests/ensembles/test_generate.py tests/metrics/test_explain.py
	$(BIN)/python -m coverage report

mutants: $(READY)  ## small wrong changes to the kernels: does a test notice? MINUTES=10 of them
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[mutants]'
	$(BIN)/python tools/mutants.py --minutes $(MINUTES)

mistakes: $(READY)  ## mistakes made by hand outside the kernels: does a test notice each?
	$(BIN)/python tools/hand_mutants.py

numbers: $(READY)  ## errors of walks and cuts on ill-conditioned graphs, beside fifty digits
	$(BIN)/python tests/precision.py

test-matrix: $(READY)  ## labels under oldest and newest libraries and other numbers of threads
	$(BIN)/python tools/matrix.py

test-install: $(READY)  ## wheel and source archive, in empty environments with each extra alone
	$(BIN)/python tools/install.py
	$(BIN)/python tools/licences.py

release-check: $(READY)  ## wheel, source archive, metadata, licences, README and links, before a release
	$(BIN)/python tools/release_check.py

bench: $(READY)  ## time, memory and agreement beside the slow twins
	$(BIN)/python -m benchmarks

docs: $(READY)  ## the documentation, as HTML under docs/_build
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:  ## remove what the targets made
	rm -rf $(VENV) docs/_build docs/gallery build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .fuzz .mutants .benchmarks demo
