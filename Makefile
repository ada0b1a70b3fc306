# make run    export a documentation site, from publishing to a checked archive, through the real API
# make test   everything that can be tested on this machine; says what it could not run
# make check  what a change is held against before each push

SITE ?= infra/docs
OUT  ?= out/bindery-docs.tar.gz

GO ?= go
BINDERY_TREES ?= $(CURDIR)/.cache/trees
export BINDERY_TREES
# Node 20 is past its end, and CDK says so at each start.
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION ?= 1
export PATH := $(CURDIR)/.cache/bin:$(PATH)
# Without C, as releases are built: tests and programs share compiled packages.
export CGO_ENABLED ?= 0

# A test with a target of its own. Its result is cached like any other.
TARGET = $(GATE) test -v -programs -ldflags '$(LDFLAGS)'

# What follows a tool that can't be installed: the tests go on and say what they
# lack, unless nothing may be lacking.
LESS = test -z "$$BINDERY_REQUIRE"

.PHONY: affected agent-mutations agent-tasks check staticcheck gate-table programs test-all test-release fmt deploy-local stop-local test-cloud test-sam test-kills run test tools vet race bench bench-functions bench-diagrams bench-peers bench-search bench-reader fuzz build functions images release test-chart clean

## Exports SITE (a folder with a docs.json) to OUT. Needs Go alone. OPEN=yes opens it in a
## browser and serves it until Ctrl-C.
OPEN ?=
run:
	@$(GO) run ./infra/cmd/bindery run $(SITE) --out $(OUT) $(if $(OPEN),--open)

## The whole suite. Fetches what it needs (.ci/tools) while the first tests run, and
## says what it could not run. RACE=yes runs short tests of concurrent packages
## under the race detector, as the gate does.
GATE = $(GO) run ./tests/gate
RACE ?=
test:
	@$(GATE) test $(if $(RACE),-race) -ldflags '$(LDFLAGS)'

## Tests of what differs from REV (main by default) and of what imports it.
REV ?= main
affected:
	@$(GATE) affected -ldflags '$(LDFLAGS)' $(REV)

## What is too long for each change: every test without samples, long fuzzing, two
## releases compared, a thousand kills. Hours of two cores; see testing.mdx.
test-all: programs
	BINDERY_FULL=yes BINDERY_FAULTS=all $(GATE) test -race -ldflags '$(LDFLAGS)'
	$(MAKE) test-release BINDERY_FULL=yes
	$(MAKE) test-kills
	$(MAKE) fuzz FUZZTIME=1m

## Links the programs that tests start (the command, the server, every function)
## into bin/programs: only those that changed.
programs:
	@$(GATE) programs -ldflags '$(LDFLAGS)'

## Writes the times of the last gate into infra/docs/contribute/testing.mdx.
gate-table:
	@$(GATE) table

## Fast checks before a push: formatting, vet, staticcheck and every quick test.
## Go's cache has the results of packages that a change does not reach. What -short
## leaves out says so; make test runs it.
check: fmt vet
	@$(GATE) test -short

fmt:
	@unformatted=$$(git ls-files '*.go' | grep -v /testdata/ | xargs gofmt -l); \
	  if [ -n "$$unformatted" ]; then echo "not gofmt-ed:" $$unformatted; exit 1; fi

## Everything that tests use beside Go. Targets install what they need by name.
tools:
	@.ci/tools

staticcheck:
	@.ci/tools staticcheck

vet: staticcheck
	$(GO) vet ./...
	.cache/bin/staticcheck ./...

## The short tests of every package of shared, functions and infra under the race
## detector. The gate does so for packages that start goroutines (make test RACE=yes).
race:
	CGO_ENABLED=1 $(GO) test -race -short -timeout 30m ./shared/... ./functions/... ./infra/cmd/... ./infra/docs/...

## Parse, highlight, render and the whole export, in one run on one machine.
bench:
	$(GO) test -run '^$$' -bench . -skip ReaderPaints -benchmem ./shared/render/mdx ./shared/render/highlight ./shared/render/page ./shared/render/theme ./tests/export ./tests/preview ./tests/search

## Size and start of every function, beside a Lambda function that does nothing.
bench-functions:
	$(GO) test -run '^$$' -bench Start -benchtime 40x ./functions

## What the search of bundles answers wrongly to the questions of
## tests/search/testdata/questions, and its ranks beside those of Pagefind and minisearch,
## which npm installs; without it, ours alone.
bench-search:
	@mkdir -p .cache/searchbench && cp tests/tools/searchbench/* .cache/searchbench/
	@cd .cache/searchbench && npm install --silent --no-package-lock --no-audit --no-fund || echo "npm can't install Pagefind and minisearch"
	$(GO) test -run '^$$' -bench SearchAnswers -benchtime 1x ./tests/search

## Which share of the diagrams in Mermaid's documentation and demos is drawn at export,
## and why the others are not. MERMAID is a checkout of Mermaid.
MERMAID ?=
bench-diagrams:
	BINDERY_MERMAID='$(abspath $(MERMAID))' $(GO) test -run '^$$' -bench MermaidSources -benchtime 1x -v ./shared/render/diagram

## How soon a phone paints pages, by Lighthouse: medians of five runs in turn of
## SITE, and of PEER, a folder with the same pages as another tool built them, such
## as Starlight's dist. PAGES are their addresses, divided by commas. Nothing else
## should run.
PEER ?=
PAGES ?=
bench-reader:
	@.ci/tools system lighthouse || $(LESS)
	BINDERY_READER_SITE='$(abspath $(SITE))' BINDERY_READER_PEER='$(PEER)' BINDERY_READER_PAGES='$(PAGES)' \
	  $(GO) test ./tests/browser -run '^$$' -bench '^BenchmarkReaderPaints$$' -benchtime 1x -v -timeout 60m

## Exports of the shared folder's corpus beside Hugo, and others that are installed, in
## turn; the ratios go into the documentation's page of figures. Takes a quarter of
## an hour of two cores; nothing else should run.
SHARED = $(or $(BINDERY_SHARED),../shared)
bench-peers:
	@.ci/tools peers || $(LESS)
	$(GO) run ./tests/peers -shared $(SHARED)

## Every fuzz target for FUZZTIME each, and properties with new cases.
FUZZTIME ?= 10s
fuzz:
	BINDERY_EXPLORE=1 $(GO) test -short -count=1 -timeout 30m $$(git grep -l 'proptest\.Check' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's,^,./,')
	@for p in $$($(GO) list ./shared/... ); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "fuzz $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; done; done

# The digest of what renders, which builds put into their programs (see
# shared/service/export/renderer.go). Without a build id, the programs that do
# not render stay the same files when it changes.
RENDERER = github.com/bindery-docs/bindery/shared/service/export.sources
LDFLAGS  = -s -w -buildid= -X $(RENDERER)=$(shell $(GO) run ./shared/base/buildid/sum shared/service/export)

# What programs say of themselves: the version is the tag's, or, between tags, that
# of git describe. The date is the commit's.
VERSION = $(patsubst v%,%,$(shell git describe --tags --match 'v[0-9]*' 2>/dev/null || echo v0.0.0-g$$(git rev-parse --short=12 HEAD)))
COMMIT  = $(shell git rev-parse HEAD)
DATE    = $(shell TZ=UTC git show -s --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ)
STAMP   = -X main.releaseVersion=$(VERSION) -X main.releaseCommit=$(COMMIT) -X main.releaseDate=$(DATE)

## The programs themselves, static and stripped, into BUILD.
BUILD ?= bin/
build:
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags='$(LDFLAGS) $(STAMP)' -o $(BUILD) ./infra/cmd/bindery ./infra/cmd/bindery-serve

## Kills of `bindery up` in the midst of publishing, exporting and downloading, by
## a schedule that follows from SEED: nothing may be lost, stuck or different. A
## thousand take ten to fifteen minutes of two cores; a seed of 0 is any.
KILLS ?= 1000
SEED ?= 0
test-kills:
	BINDERY_KILLS=$(KILLS) BINDERY_KILLS_SEED=$(SEED) $(TARGET) -tools system -- -run '^TestKills$$' -timeout 3h ./tests/kills

## Agent jobs with a fault at every call of a step, and with each answer of the model cut
## after each of its events. The gate runs a sample.
agent-mutations:
	@BINDERY_FULL=yes $(GO) test ./shared/service/agent -run '^Test(Death|AnswersCut)' -count=1 -v -timeout 3h

## Forty documentation tasks on real sites for a real model: MODELS is a table as of
## `bindery up --models`, BINDERY_MODEL_KEY the key of the server, MODEL a name of
## the table (its default), TASKS a regular expression of names, TRIES how often each
## is tried. Prints passes, pass^k, rounds, turns and cost of each task and family, and
## writes them as tables in Markdown into the file RESULTS; a run that is begun again
## goes on where it was. RECORD=1 keeps answers for replays; FORGE_URL, FORGE_USER and
## FORGE_TOKEN name a real forge.
MODELS ?= $(BINDERY_MODELS)
TRIES ?= 1
agent-tasks:
	@test -n "$(MODELS)" || { echo "agent-tasks: MODELS=FILE names no table of models"; exit 2; }
	@BINDERY_REQUIRE=all BINDERY_TASKS_MODELS='$(abspath $(MODELS))' BINDERY_TASKS_MODEL='$(MODEL)' BINDERY_TASKS='$(TASKS)' \
	  BINDERY_TASKS_TRIES='$(TRIES)' BINDERY_TASKS_RESULTS='$(abspath $(RESULTS))' \
	  BINDERY_TASKS_RECORD='$(if $(RECORD),$(CURDIR)/tests/agenttasks/testdata/recorded)' \
	  $(GO) test ./tests/agenttasks -run '^TestLive$$' -count=1 -v -timeout 48h

## The synthesized template under the SAM CLI; needs a Docker engine and says so.
test-sam:
	BINDERY_SAM=1 $(TARGET) -tools 'npm sam' -- -run '^TestSAM$$' -timeout 30m ./tests/cloud

## Every Lambda function as it is deployed: FUNCTIONS/NAME/bootstrap, for ARCH, or
## ONLY those with these names.
## Without the marks of version control: the same code is the same file, of which
## a deployment makes no new version. Without what functions never use: net/rpc,
## and HTTP/2, which the services that they call do not speak.
ARCH ?= arm64
FUNCTIONS ?= bin/functions
ONLY ?=
functions:
	@$(if $(ONLY),,rm -rf $(FUNCTIONS) && )mkdir -p $(FUNCTIONS)/.built
	@CGO_ENABLED=0 GOOS=linux GOARCH=$(ARCH) $(GO) build -trimpath -buildvcs=false -ldflags='$(LDFLAGS)' -tags lambda.norpc,nethttpomithttp2 \
	  -o $(FUNCTIONS)/.built/ $(if $(ONLY),$(ONLY:%=./functions/%),./functions/...)
	@for f in $(FUNCTIONS)/.built/*; do n=$${f##*/}; mkdir -p $(FUNCTIONS)/$$n && mv $$f $(FUNCTIONS)/$$n/bootstrap; done
	@rmdir $(FUNCTIONS)/.built

## Bindery on a local cloud (MiniStack), from the synthesized stack; see infra/docs/operate/local-clouds.mdx.
deploy-local:
	@.ci/tools ministack npm
	@infra/local/deploy.sh
stop-local:
	@infra/local/stop.sh

## The deployed stack on a local cloud against the local Bindery: same bytes,
## refusals, faults, permissions. make test has the contracts of the ports.
test-cloud:
	BINDERY_CLOUD=1 $(TARGET) -tools 'ministack npm oidc' -- -run '^TestCloud$$' -timeout 45m ./tests/cloud

## The container images of the Helm chart, as archives in bin/; needs no daemon.
images:
	$(GO) run ./infra/image serve --out bin/bindery-serve.tar
	$(GO) run ./infra/image loop --out bin/bindery-loop.tar

## A release in bin/dist: programs for six systems in archives, their bills of
## materials, checksums; container images and the chart as OCI archives, and what
## installs the programs. On a tag v1.2.3 it is that version, else a snapshot.
## RELEASE_FLAGS= with a GITHUB_TOKEN publishes it.
RELEASE_FLAGS ?= --skip=publish
IMAGE = $(GO) run ./infra/image
release:
	@.ci/tools goreleaser
	@rm -rf bin/release && mkdir -p bin/release
	$(IMAGE) serve --version '$(VERSION)' --ldflags '$(LDFLAGS) $(STAMP)' --name ghcr.io/bindery-docs/bindery-serve:$(VERSION) --out bin/release/bindery-serve_$(VERSION)_image.tar
	$(IMAGE) loop --version '$(VERSION)' --ldflags '$(LDFLAGS) $(STAMP)' --name ghcr.io/bindery-docs/bindery-loop:$(VERSION) --out bin/release/bindery-loop_$(VERSION)_image.tar
	$(IMAGE) chart --version '$(VERSION)' --name ghcr.io/bindery-docs/charts/bindery:$(VERSION) --out bin/release/bindery-chart_$(VERSION)_oci.tar
	@cp infra/install.sh bin/release/
	BINDERY_VERSION='$(VERSION)' BINDERY_COMMIT=$(COMMIT) BINDERY_DATE=$(DATE) BINDERY_TIMESTAMP=$(shell git show -s --format=%ct) \
	  BINDERY_RENDERER='$(lastword $(subst =, ,$(LDFLAGS)))' BINDERY_EXTRA='bin/release/*' BINDERY_CHECKOUT='$(CURDIR)' BINDERY_DIST='$(CURDIR)/bin/dist' \
	  .cache/bin/goreleaser release --clean $(if $(shell git describe --exact-match --tags --match 'v[0-9]*' 2>/dev/null),,--snapshot) $(RELEASE_FLAGS)

## A release of this system, compared with make build and installed from a server
## of files. BINDERY_FULL=yes builds it twice and compares the two.
test-release:
	BINDERY_RELEASE=1 $(TARGET) -tools 'goreleaser shellcheck' -- -run '^TestRelease$$' -timeout 45m ./tests/release

## The chart on a cluster with real pods; needs root and the test bed of the
## folder shared beside the checkout (ten minutes to build, the first time).
test-chart:
	BINDERY_CHART=1 $(TARGET) -tools 'system helm' -- -run '^TestChart$$' -timeout 80m ./tests/chart

## Of installed tools it removes the links; .ci/tools --clean removes old versions.
clean:
	rm -rf bin out .cache
