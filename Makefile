# The commands of the house. `make test` is what continuous integration runs.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Most of a first build is its dependencies. They go to one place outside the checkout, where all
# checkouts find them; a CARGO_TARGET_DIR of the caller's own stands, and a machine that does not
# let us write there builds into the checkout.
SHARED_TARGET := /var/tmp/weir-target
ifeq ($(CARGO_TARGET_DIR),)
CARGO_TARGET_DIR := $(shell mkdir -p $(SHARED_TARGET) 2>/dev/null && test -w $(SHARED_TARGET) \
	&& echo $(SHARED_TARGET) || echo $(CURDIR)/target)
endif
export CARGO_TARGET_DIR

TIMED := scripts/timed.sh

.PHONY: help
help: ## What there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## Install what the build and the tests need (apt, when root)
	@$(TIMED) deps scripts/deps.sh

.PHONY: clients
clients: ## Install the clients that the tests try (pip, npm, Maven, Go)
	@$(TIMED) clients scripts/clients.sh

.PHONY: test
test: deps clients ## Formatting, lints and every test
	@$(TIMED) format cargo fmt --check
	@$(TIMED) lint cargo clippy --locked --all-targets -- -D warnings
	@$(TIMED) build cargo test --locked --no-run
	@$(TIMED) test cargo test --locked

.PHONY: test-clients
test-clients: export WEIR_CLIENTS_HEAVY = 1
test-clients: deps clients ## The clients alone, with those that take minutes (dbt, Superset, pgAdmin)
	@$(TIMED) test-clients cargo test --locked --test sql -- clients/

.PHONY: demo
demo: deps ## A stream, views and a kill -9, for a minute in the terminal
	@$(TIMED) build cargo build --locked
	@scripts/demo.sh

.PHONY: bench-tpch
bench-tpch: deps ## TPC-H at scale 1: its views while orders come and go, compared with PostgreSQL
	@$(TIMED) bench-tpch env WEIR_TPCH_SCALE=1 \
		cargo --config 'profile.dev.opt-level=3' test --locked --test sql -- workload/tpch

.PHONY: bench
bench: deps ## First figures, with our own code fully optimised
	@$(TIMED) bench cargo --config 'profile.dev.opt-level=3' bench --locked --profile dev --bench weir
