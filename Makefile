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

.PHONY: agent-tasks check fmt deploy-local stop-local test-cloud test-sam test-kills run test tools vet race bench bench-functions fuzz build functions images test-chart clean

## Exports SITE (a folder with a docs.json) to OUT. Needs Go alone.
run:
	@$(GO) run ./infra/cmd/bindery run $(SITE) --out $(OUT)

# The packages whose tests take longest, in the order of what they take: go runs
# packages in the order in which they are named, and one that comes last leaves
# all processors but one idle. Where go vet has run, go test need not run a part
# of it.
LONGEST = ./tests ./shared/render/script/island ./shared/service/export ./infra

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
	$(GO) test -run '^$$' -bench . -benchmem ./shared/render/mdx ./shared/render/highlight ./shared/render/page ./shared/render/theme ./tests

## Size and start of every function, beside a Lambda function that does nothing.
bench-functions:
	$(GO) test -run '^$$' -bench Start -benchtime 40x ./functions

## Every fuzz target for FUZZTIME each.
FUZZTIME ?= 10s
fuzz:
	@for p in $$($(GO) list ./shared/... ); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "fuzz $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; done; done

# The digest of what renders, which builds put into their programs (see
# shared/service/export/renderer.go). Without a build id, the programs that do
# not render stay the same files when it changes.
RENDERER = github.com/bindery-docs/bindery/shared/service/export.sources
LDFLAGS  = -s -w -buildid= -X $(RENDERER)=$(shell $(GO) run ./shared/base/buildid/sum shared/service/export)

## The programs themselves, static and stripped.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='$(LDFLAGS)' -o bin/ ./infra/cmd/bindery ./infra/cmd/bindery-serve

## Kills of `bindery up` in the midst of publishing, exporting and downloading, by
## a schedule that follows from SEED: nothing may be lost, stuck or different. A
## thousand take ten to fifteen minutes of two cores; a seed of 0 is any.
KILLS ?= 1000
SEED ?= 0
test-kills:
	BINDERY_KILLS=$(KILLS) BINDERY_KILLS_SEED=$(SEED) $(GO) test ./tests -run '^TestKills$$' -count=1 -v -timeout 3h

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
	BINDERY_SAM=1 $(GO) test -count=1 -v -timeout 20m -run 'TestSAM$$' ./tests

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
	BINDERY_CLOUD=1 $(GO) test ./tests -run '^TestCloud$$' -count=1 -v -timeout 30m

## The container images of the Helm chart, as archives in bin/; needs no daemon.
images:
	$(GO) run ./infra/image serve --out bin/bindery-serve.tar
	$(GO) run ./infra/image loop --out bin/bindery-loop.tar

## The chart on a cluster with real pods; needs root and the test bed of the
## folder shared beside the checkout (ten minutes to build, the first time).
test-chart: tools
	BINDERY_CHART=1 $(GO) test ./tests -run '^TestChart$$' -count=1 -v -timeout 45m

clean:
	rm -rf bin out .cache
