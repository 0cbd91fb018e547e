# Every task of the project, in one place. `make` alone lists them; each sets up what it needs on a clean clone.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
CARGO := cargo
WORKSPACE := --manifest-path libmicroloop/Cargo.toml
RUST_SOURCES := $(shell find libmicroloop/core/src libmicroloop/capi/src -name '*.rs') \
	$(wildcard libmicroloop/Cargo.* libmicroloop/*/Cargo.toml libmicroloop/capi/cbindgen.toml)

# Its notice about its own future is none of ours.
export NO_MKDOCS_2_WARNING := 1

##@ Everyday

.PHONY: help
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

.PHONY: demo
demo: setup ## run a stuck agent under the guard; MODEL=name for a real model (OPENAI_API_KEY, OPENAI_BASE_URL)
	@$(BIN)/python examples/demo.py

.PHONY: check
check: setup ## the inner loop, under two minutes: format, lint, types, Rust tests, fast Python tests
	@$(MAKE) lint
	@$(MAKE) types
	$(CARGO) test $(WORKSPACE) --workspace --quiet
	$(BIN)/pytest -q -m 'not slow'

.PHONY: test
test: tools ## the complete gate, on every Python of this machine
	@scripts/gate.sh

.PHONY: bench
bench: tools ## speed and size beside the baselines, in one run; JSON=file keeps the numbers
	@scripts/bench.sh $(if $(JSON),--json '$(JSON)') $(BENCH_ARGS)

.PHONY: evaluate
evaluate: setup ## score the detectors on recorded runs, beside the rules of others; JSON=file keeps the numbers
	@scripts/evaluate.sh $(if $(JSON),--json '$(JSON)') $(EVALUATE_ARGS)

.PHONY: docs
docs: tools ## build the documentation into site/, strictly, and check every link
	$(BIN)/mkdocs --quiet build --strict
	$(BIN)/python scripts/check_links.py
	$(BIN)/python scripts/llms_txt.py --check

.PHONY: build
build: tools ## an sdist, and a wheel made from it, into dist/
	@scripts/wheel.sh dist

.PHONY: fuzz
fuzz: ## look for new failing inputs, guided by coverage; SECONDS_EACH=60 (needs a nightly Rust)
	@$(MAKE) -C libmicroloop fuzz

.PHONY: sanitize
sanitize: ## the Rust tests and the C tests under the sanitizers
	@$(MAKE) -C libmicroloop sanitize

.PHONY: clean
clean: ## remove everything that make made
	rm -rf $(VENV) .cache build dist site examples/*/build microloop/_lowlevel libmicroloop/target libmicroloop/fuzz/target
	find . -name __pycache__ -prune -exec rm -rf {} +

##@ Parts of the gate

.PHONY: lint
lint: tools ## formatters, ruff, clippy with every feature set
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(CARGO) fmt $(WORKSPACE) --all --check
	$(CARGO) clippy $(WORKSPACE) --workspace --all-targets -- -D warnings
	$(CARGO) clippy $(WORKSPACE) -p microloop-capi --no-default-features --profile nostd -- -D warnings

.PHONY: types
types: tools ## mypy --strict over the package and over the typing tests, as a user's code would be
	$(BIN)/mypy

.PHONY: rust
rust: ## Rust tests with every feature set; the fuzz corpus is among them
	$(CARGO) test $(WORKSPACE) --workspace --locked
	$(CARGO) test $(WORKSPACE) -p microloop-capi --no-default-features --lib --locked

.PHONY: header
header: ## the committed C header is the one that the source says
	@$(MAKE) -C libmicroloop header

.PHONY: c-abi
c-abi: ## the C11 tests, under valgrind, and the example in C
	@scripts/need.sh valgrind valgrind
	@$(MAKE) -C libmicroloop c-abi
	@$(MAKE) -C examples/c run LIBRARY="$${CARGO_TARGET_DIR:-$(CURDIR)/libmicroloop/target}/debug/libmicroloop.a"

.PHONY: native-examples
native-examples: ## the examples in Go and Node.js: run, and tested with the shared traces
	@scripts/rust.sh
	@scripts/native_examples.sh

.PHONY: freestanding
freestanding: ## link the no_std library into a C program without a libc, and let it block a loop
	@$(MAKE) -C libmicroloop freestanding

.PHONY: wheel-tests
wheel-tests: ## install the wheel of dist/ on every Python and run the whole suite there
	@scripts/wheel_tests.sh

.PHONY: adapters
adapters: tools ## the wheel beside every framework: newest on the default Python, the floors on the oldest
	@scripts/adapter_tests.sh

.PHONY: contract-table
contract-table: build ## run the adapters' tests and write the table of docs/reference/adapters.md anew
	@CHECK="" scripts/adapter_tests.sh

.PHONY: smoke
smoke: ## the wheel alone in an empty environment
	@scripts/smoke.sh

##@ Set-up

.PHONY: setup
setup: $(VENV)/.native ## .venv with everything needed to work on microloop, the native part included

.PHONY: tools
tools: $(VENV)/.packages ## .venv with the tools alone: formatters, linters, test runner, documentation
	@scripts/rust.sh

$(VENV)/.packages: pyproject.toml scripts/venv.sh scripts/pythons.sh
	@echo "Setting up $(VENV)"
	@scripts/venv.sh $(VENV) "$$(scripts/pythons.sh --default)" \
		-r pyproject.toml --extra langchain --extra langgraph --group dev
	@touch $@

$(VENV)/.native: $(VENV)/.packages $(RUST_SOURCES)
	@scripts/rust.sh
	@echo "Building the native part (a few minutes the first time)"
	@told=$$(VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --quiet --release --uv 2>&1) || { echo "$$told"; exit 1; }
	@touch $@
