# Two commands: `make run` and `make test`. Both make .venv themselves, and need no network once
# it is there.
SHELL := /bin/sh
PYTHON := .venv/bin/python

.PHONY: run test test-fast lint lock bench clean
.DEFAULT_GOAL := run

run: .venv/run.installed
	@$(PYTHON) manage.py explore

test: .venv/test.installed
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy
	@$(PYTHON) -m pytest

bench: .venv/test.installed
	@$(PYTHON) -m tests.bench

.venv/run.installed: requirements.lock
	@./tools/install requirements.lock
	@touch $@

.venv/test.installed: requirements.lock requirements-test.lock
	@./tools/install requirements-test.lock
	@touch $@ .venv/run.installed

# Only for those who change dependencies; needs uv.
lock:
	uv lock
	uv export --quiet --no-dev --no-emit-project --no-header --output-file requirements.lock
	uv export --quiet --no-emit-project --no-header --output-file requirements-test.lock

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache staticfiles
