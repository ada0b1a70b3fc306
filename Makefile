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

.PHONY: agent-tasks check fmt deploy-local stop-local test-cloud test-sam test-kills run test tools vet race bench bench-functions bench-peers bench-search bench-reader fuzz build functions images release test-chart clean

## Exports SITE (a folder with a docs.json) to OUT. Needs Go alone.
run:
	@$(GO) run ./infra/cmd/bindery run $(SITE) --out $(OUT)

# The packages whose tests take longest, in the order of what they take: go runs
# packages in the order in which they are named, and one that comes last leaves
# all processors but one idle. Where go vet has run, go test need not run a part
# of it.
LONGEST = ./tests/browser ./shared/render/script/island ./shared/service/export ./infra ./tests/search ./tests/serve ./tests/export ./tests/release

## The whole suite. Fetches what it needs under .cache; see .ci/tools.
test: tools vet
	$(GO) test -vet=off -timeout 45m $(LONGEST) ./...

## What is quick to hold: formatting, vet, staticcheck, the table of imports and
## every test that takes little. 150 to 200 seconds of a processor if no result is
## in Go's cache, thus about two minutes on two cores; what a change can't touch
## is in the cache, and a first build takes minutes more. What -short leaves out
## says so; .ci/run is the whole truth.
check: fmt .cache/bin/staticcheck vet
	$(GO) test -vet=off -short -timeout 15m $(LONGEST) ./...

fmt:
	@unformatted=$$(git ls-files '*.go' | grep -v /testdata/ | xargs gofmt -l); \
	  if [ -n "$$unformatted" ]; then echo "not gofmt-ed:" $$unformatted; exit 1; fi

.cache/bin/staticcheck:
	@.ci/tools staticcheck

tools:
	@.ci/tools

vet:
	$(GO) vet ./...
	.cache/bin/staticcheck ./...

## The quick tests under the race detector, and what they leave out that does much
## at once: uploads in parts to a local cloud, a real site in forty shards.
race:
	$(GO) test -race -short -timeout 30m ./shared/render/script/island ./shared/service/export ./shared/... ./functions/... ./infra/cmd/... ./infra/docs/...
	$(GO) test -race -timeout 15m ./shared/service/cloud
	$(GO) test -race -timeout 15m -run 'TestRealSites/mcp' ./shared/service/export

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

## How soon a phone paints pages, by Lighthouse: medians of five runs in turn of
## SITE, and of PEER, a folder with the same pages as another tool built them, such
## as Starlight's dist. PAGES are their addresses, divided by commas. Nothing else
## should run.
PEER ?=
PAGES ?=
bench-reader: tools
	BINDERY_READER_SITE='$(abspath $(SITE))' BINDERY_READER_PEER='$(PEER)' BINDERY_READER_PAGES='$(PAGES)' \
	  $(GO) test ./tests/browser -run '^$$' -bench '^BenchmarkReaderPaints$$' -benchtime 1x -v -timeout 60m

## Exports of the shared folder's corpus beside Hugo, and others that are installed, in
## turn; the ratios go into the documentation's page of figures. Takes a quarter of
## an hour of two cores; nothing else should run.
SHARED = $(or $(BINDERY_SHARED),../shared)
bench-peers:
	@.ci/tools peers
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

## The programs themselves, static and stripped.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='$(LDFLAGS) $(STAMP)' -o bin/ ./infra/cmd/bindery ./infra/cmd/bindery-serve

## Kills of `bindery up` in the midst of publishing, exporting and downloading, by
## a schedule that follows from SEED: nothing may be lost, stuck or different. A
## thousand take ten to fifteen minutes of two cores; a seed of 0 is any.
KILLS ?= 1000
SEED ?= 0
test-kills:
	BINDERY_KILLS=$(KILLS) BINDERY_KILLS_SEED=$(SEED) $(GO) test ./tests/kills -run '^TestKills$$' -count=1 -v -timeout 3h

## Twenty documentation tasks on real sites for a real model: MODELS is a table as of
## `bindery up --models`, BINDERY_MODEL_KEY the key of the server, MODEL a name of
## the table (its default), TASKS a regular expression of names. Prints score, turns,
## tokens and cost; a run that is begun again goes on where it was. RECORD=1 keeps
## answers for replays; FORGE_URL, FORGE_USER and FORGE_TOKEN name a real forge.
MODELS ?= $(BINDERY_MODELS)
agent-tasks:
	@test -n "$(MODELS)" || { echo "agent-tasks: MODELS=FILE names no table of models"; exit 2; }
	@BINDERY_REQUIRE=all BINDERY_TASKS_MODELS='$(abspath $(MODELS))' BINDERY_TASKS_MODEL='$(MODEL)' BINDERY_TASKS='$(TASKS)' \
	  BINDERY_TASKS_RECORD='$(if $(RECORD),$(CURDIR)/tests/agenttasks/testdata/recorded)' \
	  $(GO) test ./tests/agenttasks -run '^TestLive$$' -count=1 -v -timeout 6h

## The synthesized template under the SAM CLI; needs a Docker engine and says so.
test-sam: tools
	BINDERY_SAM=1 $(GO) test -count=1 -v -timeout 20m -run 'TestSAM$$' ./tests/cloud

## Every Lambda function as it is deployed: FUNCTIONS/NAME/bootstrap, for ARCH.
## Without the marks of version control: the same code is the same file, of which
## a deployment makes no new version. Without what functions never use: net/rpc,
## and HTTP/2, which the services that they call do not speak.
ARCH ?= arm64
FUNCTIONS ?= bin/functions
functions:
	@rm -rf $(FUNCTIONS) && mkdir -p $(FUNCTIONS)/.built
	@CGO_ENABLED=0 GOOS=linux GOARCH=$(ARCH) $(GO) build -trimpath -buildvcs=false -ldflags='$(LDFLAGS)' -tags lambda.norpc,nethttpomithttp2 \
	  -o $(FUNCTIONS)/.built/ ./functions/...
	@for f in $(FUNCTIONS)/.built/*; do n=$${f##*/}; mkdir -p $(FUNCTIONS)/$$n && mv $$f $(FUNCTIONS)/$$n/bootstrap; done
	@rmdir $(FUNCTIONS)/.built

## Bindery on a local cloud (MiniStack), from the synthesized stack; see infra/docs/operate/local-clouds.mdx.
deploy-local: tools
	@infra/local/deploy.sh
stop-local:
	@infra/local/stop.sh

## The contracts of the ports on local clouds, then the deployed stack against the
## local Bindery: same bytes, refusals, faults, permissions.
test-cloud: tools
	$(GO) test ./shared/service/cloud -run 'Contract$$' -count=1
	BINDERY_CLOUD=1 $(GO) test ./tests/cloud -run '^TestCloud$$' -count=1 -v -timeout 30m

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

## The chart on a cluster with real pods; needs root and the test bed of the
## folder shared beside the checkout (ten minutes to build, the first time).
test-chart: tools
	BINDERY_CHART=1 $(GO) test ./tests/chart -run '^TestChart$$' -count=1 -v -timeout 45m

clean:
	rm -rf bin out .cache
