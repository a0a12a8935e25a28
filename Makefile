.DEFAULT_GOAL := help
SHELL := /bin/bash
GO ?= go
BIN := bin/kith
LINT_VERSION := v2.15.0
FUZZTIME ?= 60s
RACE_SKIP := graphstore/kuzu|cmd/kith

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the command into bin/, with the Kuzu library beside it
	@mkdir -p bin
	$(GO) build -ldflags='-r $$ORIGIN' -o $(BIN) ./cmd/kith
	@cp -f "$$($(GO) list -m -f '{{.Dir}}' github.com/kuzudb/go-kuzu)"/lib/dynamic/$$($(GO) env GOOS)-$$($(GO) env GOARCH)/libkuzu.* bin/ && chmod u+w bin/libkuzu.*

.PHONY: run
run: build ## Project the sample, print plain and graph ranking side by side, then keep serving
	$(BIN) demo --serve

.PHONY: demo
demo: build ## The same without serving, in a directory of its own
	$(BIN) demo

.PHONY: test
test: ## Run all tests
	$(GO) test -timeout 40m ./...

.PHONY: chaos
chaos: ## Break running services in every way their store can be broken; under 10 minutes
	@mkdir -p bin; set -o pipefail; $(GO) test ./cmd/kith -v -count=1 -timeout 20m -run '^TestChaos' -chaos 2>&1 | tee bin/chaos.log | \
		grep -E --line-buffered '^(chaos:|--- |FAIL|ok|panic:)' || { echo 'see bin/chaos.log'; exit 1; }

.PHONY: backfill
backfill: ## Kill, disturb and measure backfills of real stores by real processes; under 20 minutes
	@mkdir -p bin; set -o pipefail; $(GO) test ./cmd/kith -v -count=1 -timeout 40m -run '^TestBackfill' -backfill-proof 2>&1 | tee bin/backfill.log | \
		grep -E --line-buffered '^(backfill:|--- |FAIL|ok|panic:)' || { echo 'see bin/backfill.log'; exit 1; }

SOAK ?= 200000

# What the service sets for its store's process; here also for the driver alone, so that the two compare.
HEAP := MALLOC_TRIM_THRESHOLD_=67108864 MALLOC_TOP_PAD_=16777216 MALLOC_MMAP_THRESHOLD_=4194304 MALLOC_ARENA_MAX=2

.PHONY: soak
soak: ## Send 200,000 events (SOAK=n) through a service that is disturbed all the time, and look for anything lost or wrong
	@mkdir -p bin; set -o pipefail; export $(HEAP); { $(GO) test ./cmd/kith -v -count=1 -timeout 3h -run '^TestSoak$$' -soak $(SOAK) -soak-transactions $(CURDIR)/bin/soak.tx && \
		$(GO) test ./graphstore/kuzu -v -count=1 -timeout 3h -run '^TestRawStatements$$' -raw-transactions $(CURDIR)/bin/soak.tx; } 2>&1 | tee bin/soak.log | \
		grep -E --line-buffered '^(soak:|--- |FAIL|ok|panic:)' || { echo 'see bin/soak.log'; exit 1; }

.PHONY: race
race: ## Run the short tests under the race detector, without the packages that are cgo through and through
	$(GO) test -race -short -timeout 40m $$($(GO) list ./... | grep -Ev '$(RACE_SKIP)')

.PHONY: lint
lint: bin/golangci-lint ## gofmt, go vet and golangci-lint
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run gofmt'; exit 1; }
	$(GO) vet ./...
	bin/golangci-lint run

bin/golangci-lint:
	GOBIN=$(CURDIR)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

.PHONY: bench
bench: ## Run the benchmarks of the hot paths
	$(GO) test -run '^$$' -bench . ./...

.PHONY: bench-once
bench-once: ## Run every benchmark once, so that none rots
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

.PHONY: fuzz
fuzz: ## Fuzz every decoder for FUZZTIME each
	@for target in $$(grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u); do \
		for f in $$(grep -rhoE '^func Fuzz[A-Za-z0-9_]+' $$target/*_test.go | sed 's/func //'); do \
			echo "$$target $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$target || exit 1; \
		done; done

.PHONY: docs
docs: ## Write docs/schema anew from the event types
	$(GO) generate ./internal/eventdoc

.PHONY: clean
clean: ## Remove what the targets above made
	rm -rf bin
