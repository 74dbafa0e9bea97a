# Every command is listed by `make help`; README.md tells which ones to start with.

BIN := .venv/bin
UV := $(or $(shell command -v uv),$(BIN)/uv)
SYNC = $(UV) sync --quiet --locked $(if $(PYTHON),--python '$(PYTHON)')
# Of the tag; without one 0.1.0 and the commit.
VERSION ?= $(shell git describe --tags --exact-match --match 'v*' 2>/dev/null | sed 's/^v//' | grep . || echo "0.1.0+g$$(git rev-parse --short=12 HEAD)")
SHELL := /bin/sh
# Python compiles what it imports, once: all of the packages would take 20 seconds more.
export PYTHONDONTWRITEBYTECODE :=
.DEFAULT_GOAL := help
.PHONY: help setup lock run test test-slow test-docker check reference wheel format services services-stop chaos soak chaos-commands load fuzz bench-serializers bench-relevance bench update

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/installed ## make .venv from uv.lock (only when that has changed)

.venv/installed: .venv/runs
	@$(SYNC) --all-extras
	@touch $@

# What `make run` needs, which takes a third of the time; the rest comes with the first other command.
.venv/runs: uv.lock pyproject.toml
	@set -e; \
	if ! command -v $(UV) >/dev/null; then \
	  for python in $(PYTHON) python3.13 python3.12 python3.11 python3 python; do \
	    if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	    then found=$$python; break; fi; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo "setup: no Python 3.11 or later with venv was found. Install it, or name one:" \
	      "make $(MAKECMDGOALS) PYTHON=/path/to/python3; or install uv." >&2; \
	    exit 1; \
	  fi; \
	  echo "setup: making .venv with $$found" >&2; \
	  $$found -m venv --clear --without-pip .venv; \
	  $$found -m pip --disable-pip-version-check --python $(BIN)/python install --quiet uv 2>/dev/null \
	    || { $(BIN)/python -m ensurepip >/dev/null; $(BIN)/python -m pip install --quiet uv; }; \
	fi; \
	echo "setup: installing what uv.lock names; the first time takes up to a minute …" >&2; \
	$(SYNC) --inexact --no-default-groups --group run; \
	$(BIN)/python -c 'import app.cli, devstack.commands'; \
	touch $@

lock: ## write uv.lock from pyproject.toml (UPGRADE=--upgrade: newest versions)
	$(UV) lock $(UPGRADE)

run: .venv/runs ## serve on http://127.0.0.1:8000 (PORT=…) with the sample posts, or those of SITE=https://your.blog
	@SITE='$(SITE)' exec $(BIN)/python -m devstack run

test: setup ## everything: checks, then all tests on real engines (ARGS='-k words' for some)
	@exec $(BIN)/python -m devstack test --check -- $(ARGS)

test-slow: setup ## what takes longer: TLS and users, wheels, nginx, the model, two workers, random requests
	@exec $(BIN)/python -m devstack test -- --dist=loadfile tests/slow $(ARGS)

test-docker: setup ## the image and docker-compose.yml on a Docker engine (FORMER=revision: the upgrade from it)
	@FORMER='$(FORMER)' exec $(BIN)/python -m pytest tests/docker $(ARGS)

.PHONY: static
static: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m scripts.reference --check

.PHONY: test-clients
test-clients: setup ## today's clients of the Model Context Protocol against /mcp; needs Node.js
	@exec $(BIN)/python -m devstack test -- -n0 tests/clients $(ARGS)

.PHONY: test-engines
test-engines: setup ## real blogs, 30 posts each: WORDPRESS=clone of WordPress/WordPress 7.1, and Ghost from npm
	@test -f '$(WORDPRESS)/wp-load.php' || { echo "test-engines: name a WordPress:" \
	  "git clone --depth 1 -b 7.1 https://github.com/WordPress/WordPress && make test-engines WORDPRESS=WordPress" >&2; exit 1; }
	@tests/engines/install.sh .engines
	@WORDPRESS='$(WORDPRESS)' ENGINES=.engines exec $(BIN)/python -m pytest tests/engines $(ARGS)

.PHONY: test-browsers
test-browsers: setup ## the widget and the page in Chromium, Firefox and WebKit: chromedriver, firefox-esr, geckodriver, webkit2gtk-driver, xvfb
	@exec xvfb-run -a $(BIN)/python -m devstack test -- tests/browsers $(ARGS)

check: static ## lint, format, types, imports point one way, docs mention everything
	$(BIN)/python -m pytest tests/unit/test_architecture.py tests/unit/test_docs.py

reference: setup ## write docs/settings.md from the settings
	$(BIN)/python -m scripts.reference

format: setup ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

services: setup ## start Elasticsearch and Redis; prints exports: eval "$(make -s services)"
	@exec $(BIN)/python -m devstack up

services-stop: setup ## stop what `make services` started
	@exec $(BIN)/python -m devstack down

wheel: setup ## build dist/*.whl, an installable package of the service
	@rm -rf build  # setuptools would put what it finds there into the wheel, also modules that are gone
	@SETUPTOOLS_SCM_PRETEND_VERSION='$(VERSION)' $(UV) build --quiet --wheel --out-dir '$(abspath $(or $(DIST),dist))'

# Never takes what is live away: the index is rebuilt beside it, and the containers go one after the other.
update: ## Docker Compose: fetch and build the new version, rebuild the index, exchange the containers (PULL=1: git pull first)
	@./deploy/update.sh $(if $(PULL),--pull)

chaos: setup ## break the engines and the workers under load, print what clients got, and check all answers against the acknowledged writes (ONLY=Redis)
	@exec $(BIN)/python -m bench.chaos --only '$(ONLY)'

soak: setup ## faults, swaps and writes by chance (MINUTES=60, SEED= to repeat one)
	@exec $(BIN)/python -m bench.chaos --soak $(or $(MINUTES),60) $(if $(SEED),--seed $(SEED))

chaos-commands: setup ## kill reindex, sync, synonyms load and rollback 50 times each, during writes (KILLS=50, ONLY=sync)
	@exec $(BIN)/python -m bench.chaos --only '$(ONLY)' --kills $(or $(KILLS),50)

load: setup ## send the highest rate of searches that the machine holds, and twice that (SECONDS=60); needs ELASTICSEARCH_URL
	@exec $(BIN)/python -m bench.load --seconds $(or $(SECONDS),60)

fuzz: setup ## 30,000 random requests and as many files (CASES=… of each kind); needs ELASTICSEARCH_URL and REDIS_URL
	@FUZZ_EXAMPLES=$(or $(CASES),2500) exec $(BIN)/python -m pytest tests/unit/test_fuzz_inputs.py tests/slow/test_fuzz.py tests/slow/test_fuzz_api.py

.PHONY: types
types: setup ## write blogsearch.d.ts, TypeScript declarations of requests and answers; needs Node.js
	@npx --yes openapi-typescript@7.13.0 app/openapi.json -o $(or $(TYPES),blogsearch.d.ts) >&2

.PHONY: hunt
hunt: setup ## look for searches that cost Elasticsearch much more than a usual one (DATA=folder, CASES=500); five minutes
	@exec $(BIN)/python -m bench.hunt $(if $(DATA),--data '$(DATA)') --cases $(or $(CASES),500)

bench-serializers: setup ## measure the serializers of cached answers
	@exec $(BIN)/python -m bench.serializers

bench-relevance: setup ## measure relevance: the sample, or every corpus of DATA=folder
	@exec $(BIN)/python -m bench.relevance $(DATA)

bench: setup ## measure the speed of everything (QUICK=1, FULL=1, DATA=folder, FORMER=tree, PEER=url, ONLY=sections, PUBLISH=1)
	@exec $(BIN)/python -m bench.speed $(if $(QUICK),--quick) $(if $(FULL),--full) $(if $(PUBLISH),--publish) $(if $(DATA),--data '$(DATA)') $(if $(FORMER),--former '$(FORMER)') $(if $(PEER),--peer '$(PEER)') --only '$(ONLY)'


