# Every command is listed by `make help`; README.md tells which ones to start with.

BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Takes a tenth of the time that pip takes.
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
LOCK := $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-header
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup lock run test test-docker check reference wheel release-dry-run format services services-stop services-status chaos soak chaos-commands load fairness fuzz bench-serializers bench-relevance bench sites bench-compare screenshots

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# If PYTHONDONTWRITEBYTECODE is set, as in many containers, every start would compile all sources,
# and take three times as long.
setup: .venv/installed ## make .venv from requirements.lock (only when that has changed)
	@$(BIN)/python -m compileall -q analyzers app bench devstack indexer

# Prints to stderr, because the shell evaluates stdout: `eval "$$(make -s services)"`.
.venv/installed: requirements.lock pyproject.toml
	@set -e; \
	if ! $(BIN)/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  found=; \
	  for python in $(PYTHON) python3.13 python3.12 python3.11 python3 python; do \
	    if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	    then found=$$python; break; fi; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo "setup: no Python 3.11 or later with venv was found; looked for: $(PYTHON) python3.13" \
	      "python3.12 python3.11 python3 python. Name one: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; \
	    exit 1; \
	  fi; \
	  echo "setup: making .venv with $$found ($$($$found --version))" >&2; \
	  $$found -m venv --clear .venv >&2; \
	fi; \
	echo "setup: installing what requirements.lock names; the first time takes up to a minute …" >&2; \
	awk '/^[^ ]/ {wanted = /^uv==/} wanted' requirements.lock > .venv/uv-requirements.txt; \
	$(PIP) --require-hashes -r .venv/uv-requirements.txt >&2; \
	$(UV) --compile-bytecode --require-hashes -r requirements.lock >&2 || \
	  { echo "setup: uv failed; trying pip, which may know another package index …" >&2; \
	    $(PIP) --require-hashes -r requirements.lock >&2; }; \
	$(PIP) --no-deps --no-build-isolation -e . >&2; \
	touch $@

lock: setup ## write both lock files from pyproject.toml (UPGRADE=--upgrade: newest versions)
	$(LOCK) $(UPGRADE) --extra dev pyproject.toml -o requirements.lock
	$(LOCK) --extra image -c requirements.lock pyproject.toml -o requirements-runtime.lock

run: setup ## serve on http://127.0.0.1:8000 (PORT=… changes it) with the sample posts
	@exec $(BIN)/python -m devstack run

test: check ## everything: checks, then all tests on real engines (ARGS='-k words' for some)
	@exec $(BIN)/python -m devstack test -- $(ARGS)

test-docker: setup ## the image and docker-compose.yml on a Docker engine (FORMER=revision: the upgrade from it)
	@FORMER='$(FORMER)' exec $(BIN)/python -m pytest tests/docker $(ARGS)

check: setup ## lint, format, types, imports point one way, docs mention everything
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m scripts.reference --check
	$(BIN)/python -m pytest tests/unit/test_architecture.py tests/unit/test_docs.py

reference: setup ## write docs/settings.md and docs/commands.md from the settings and commands
	$(BIN)/python -m scripts.reference

format: setup ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

services: setup ## start Elasticsearch and Redis; prints exports: eval "$(make -s services)"
	@exec $(BIN)/python -m devstack up

services-stop: setup ## stop what `make services` started
	@exec $(BIN)/python -m devstack down

services-status: setup ## show whether Elasticsearch and Redis are running
	@exec $(BIN)/python -m devstack status

# Builds a copy of the tree, so that the commit is not written into the tree itself.
wheel: setup ## build dist/*.whl, an installable package of the service
	@set -e; copy=$$(mktemp -d); trap 'rm -rf "$$copy"' EXIT; \
	git ls-files -z | tar -c --null -T - | tar -x -C "$$copy"; \
	git describe --always --dirty --abbrev=40 --exclude='*' > "$$copy/app/COMMIT"; \
	$(BIN)/uv build --quiet --wheel --no-build-isolation --out-dir '$(abspath $(or $(DIST),dist))' "$$copy"

release-dry-run: setup ## the steps of a release that need no registry: version, notes, wheel, image, units, manifest
	@exec $(BIN)/python -m scripts.release dry-run

screenshots: setup ## write pictures of the pages of `make run` to docs/pictures/; needs CHROMIUM
	@exec $(BIN)/python -m scripts.screenshots

chaos: setup ## break the engines and the workers under load, and print what clients got (ONLY=Redis)
	@exec $(BIN)/python -m bench.chaos --only '$(ONLY)'

soak: setup ## faults, swaps and writes by chance (MINUTES=60, SEED= to repeat one)
	@exec $(BIN)/python -m bench.chaos --soak $(or $(MINUTES),60) $(if $(SEED),--seed $(SEED))

chaos-commands: setup ## kill reindex, sync, synonyms load and rollback 50 times each, during writes (KILLS=50); needs ELASTICSEARCH_URL
	@exec $(BIN)/python -m bench.kills --kills $(or $(KILLS),50)

load: setup ## send the highest rate of searches that the machine holds, and twice that (SECONDS=60); needs ELASTICSEARCH_URL
	@exec $(BIN)/python -m bench.load overload --seconds $(or $(SECONDS),60)

fairness: setup ## how long others wait beside 64 clients that always send (CLIENTS=64); needs ELASTICSEARCH_URL
	@exec $(BIN)/python -m bench.load fairness --clients $(or $(CLIENTS),64)

fuzz: setup ## 30,000 random requests and as many files (CASES=… of each kind); needs ELASTICSEARCH_URL and REDIS_URL
	@FUZZ_EXAMPLES=$(or $(CASES),2500) exec $(BIN)/python -m pytest tests/unit/test_fuzz_inputs.py tests/live/test_fuzz.py tests/live/test_fuzz_api.py

.PHONY: types
types: setup ## write blogsearch.d.ts, TypeScript declarations of requests and answers; needs Node.js
	@$(BIN)/python -m scripts.openapi | npx --yes openapi-typescript@7.13.0 -o $(or $(TYPES),blogsearch.d.ts) >&2

.PHONY: hunt
hunt: setup ## look for searches that cost Elasticsearch much more than a usual one (DATA=folder, CASES=1000); five minutes
	@exec $(BIN)/python -m bench.hunt $(if $(DATA),--data '$(DATA)') --cases $(or $(CASES),1000)

bench-serializers: setup ## measure the serializers of cached answers
	@exec $(BIN)/python -m bench.serializers

bench-relevance: setup ## measure relevance: the sample, or every corpus of DATA=folder
	@exec $(BIN)/python -m bench.relevance $(DATA)

bench: setup ## measure the speed of everything and write build/bench/report.md (QUICK=1, FULL=1, DATA=folder, ONLY=sections, MEILISEARCH=path, PUBLISH=1)
	@exec $(BIN)/python -m bench $(if $(QUICK),--quick) $(if $(FULL),--full) $(if $(PUBLISH),--publish) $(if $(DATA),--data '$(DATA)') --only '$(ONLY)' --meilisearch '$(MEILISEARCH)'

sites: setup ## build sites with their real generators, and compare what is read with the front matter (ONLY=Hugo,Hexo); needs npm; names what else is missing
	@exec $(BIN)/python -m bench.sites --only '$(ONLY)'

bench-compare: setup ## measure two revisions side by side (REV=revision, DATA=folder); needs ELASTICSEARCH_URL
	@exec $(BIN)/python -m bench.compare $(if $(DATA),--data '$(DATA)') '$(or $(REV),HEAD~1)' HEAD
