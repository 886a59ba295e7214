# The commands of every day. README shows the plain ones under them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
# SQLite takes one writing process; with PostgreSQL in DATABASE_URL, use one a core.
WORKERS ?= 1
THREADS ?= 16

BIN := .venv/bin
MANAGE := $(BIN)/python manage.py
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input install -qq
# A stamp names what it installed, so that a changed requirement installs anew and nothing else does.
RUNTIME := .venv/.runtime-$(shell cksum < requirements.txt | tr ' ' '-')
TOOLS := .venv/.tools-$(shell cat requirements.txt requirements-dev.txt | cksum | tr ' ' '-')

PEERS := .venv/.peers-$(shell cksum < tests/bench/requirements.txt | tr ' ' '-')

.PHONY: help venv address run test test-db bench soak screenshots coverage check openapi messages catalogues

help:
	@echo "make run       serve on http://$(HOST):$(PORT), set up and with the demo on first use"
	@echo "make test      the whole suite (pass more with ARGS='-k name')"
	@echo "make test-db   only the tests that touch the database of DATABASE_URL"
	@echo "make bench     what the engine promises of its speed, beside a peer (a few minutes)"
	@echo "make soak      the log under kills and crowds, on a database of its own (an hour)"
	@echo "make screenshots pictures of every page of the admin (OUT=directory, ARGS='layer')"
	@echo "make coverage  the suite with its coverage"
	@echo "make check     linters, types, layers, migrations, templates, API description"
	@echo "make openapi   write docs/openapi.yaml anew"
	@echo "make messages  collect the texts to translate (needs gettext; ADD=fr adds one)"
	@echo "make catalogues compile what was translated (needs gettext)"
	@echo "make venv      only the environment, with every tool"

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; name one: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv .venv

$(RUNTIME): | .venv/bin/python
	@echo "installing requirements.txt into .venv"
	@$(PIP) -r requirements.txt
	@rm -f .venv/.runtime-*; touch $@

$(TOOLS): | .venv/bin/python
	@echo "installing requirements-dev.txt into .venv"
	@$(PIP) -r requirements-dev.txt
	@rm -f .venv/.tools-* .venv/.runtime-*; touch $@ $(RUNTIME)

venv: $(TOOLS)
	@:

# HOST may come from the environment, where it may mean something else.
address:
	@[[ "$(HOST)" =~ ^[A-Za-z0-9.-]+$$ ]] || { echo "HOST is $(HOST), which is no address to serve on; name one, and the port apart: make run HOST=127.0.0.1 PORT=8000"; exit 1; }

# A local run: TOOLPOLICY_DEBUG makes its own SECRET_KEY and needs no TLS. Not for a real server.
run: export TOOLPOLICY_DEBUG ?= 1
run: address $(RUNTIME)
	@$(BIN)/python -c 'import socket, sys; sys.exit("$(HOST):$(PORT) is taken; choose another port: make run PORT=8001" if socket.socket().connect_ex(("$(HOST)", $(PORT))) == 0 else 0)'
	@$(MANAGE) migrate --verbosity 0
	@$(MANAGE) setup --url http://$(HOST):$(PORT)
	@$(MANAGE) demo --url http://$(HOST):$(PORT)
	@echo "serving on http://$(HOST):$(PORT) (Ctrl-C ends it)"
	@$(MANAGE) worker --with-parent $$$$ & \
	    exec $(BIN)/gunicorn project.wsgi --bind $(HOST):$(PORT) --workers $(WORKERS) \
	    --worker-class gthread --threads $(THREADS) --reuse-port --no-control-socket --log-level warning

test: $(TOOLS)
	@$(BIN)/python -m pytest $(ARGS)

test-db: $(TOOLS)
	@$(BIN)/python -m pytest --only-db $(ARGS)

$(PEERS): $(TOOLS)
	@echo "installing tests/bench/requirements.txt into .venv"
	@$(PIP) -r tests/bench/requirements.txt
	@rm -f .venv/.peers-*; touch $@

bench: $(PEERS)
	@$(BIN)/python -m tests.bench $(ARGS)

# On the database of DATABASE_URL, which fills up: give it one of its own.
soak: $(TOOLS)
	@$(BIN)/python -m tests.soak crash
	@$(BIN)/python -m tests.soak crowd
	@$(BIN)/python -m tests.soak throughput
	@$(BIN)/python -m tests.soak scale

OUT ?= /tmp/toolpolicy-screenshots
screenshots: $(TOOLS)
	@$(BIN)/python -m tests.screenshots $(OUT) $(ARGS)

coverage: $(TOOLS)
	@$(BIN)/python -m pytest --cov --cov-report= $(ARGS)
	@$(BIN)/coverage report --include 'toolpolicy/engine/*' --fail-under 100
	@$(BIN)/coverage report

check: export DJANGO_SETTINGS_MODULE := tests.settings
check: $(TOOLS)
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet || { echo "not formatted: run .venv/bin/ruff format"; exit 1; }
	@$(MANAGE) check --fail-level WARNING
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/mypy
	@$(MANAGE) makemigrations --check --dry-run
	@find templates -name '*.html' -exec $(BIN)/djade --check --target-version 5.2 {} +
	@$(MANAGE) spectacular --validate --fail-on-warn | diff -u docs/openapi.yaml - \
	    || { echo "docs/openapi.yaml is not what the code describes: run make openapi"; exit 1; }
	@$(BIN)/python -m pytest -q tests/test_house_rules.py
	@echo "all checks passed"

openapi: export DJANGO_SETTINGS_MODULE := tests.settings
openapi: $(TOOLS)
	@mkdir -p docs
	@$(MANAGE) spectacular --validate --fail-on-warn --file docs/openapi.yaml

# Only translators need gettext's tools: compiled catalogues are in the repository.
ADD ?=
messages: export DJANGO_SETTINGS_MODULE := tests.settings
messages: $(TOOLS)
	@$(MANAGE) makemessages $(if $(ADD),--locale $(ADD),--all) --no-obsolete --add-location file \
	    --ignore .venv --ignore tests --ignore docs

catalogues: export DJANGO_SETTINGS_MODULE := tests.settings
catalogues: $(TOOLS)
	@$(MANAGE) compilemessages --ignore .venv
