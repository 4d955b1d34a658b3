# Everything a fresh machine needs is Python (3.11 or newer) and make: each target sets up .venv by itself.

PY := .venv/bin/python
MANIFESTS := pyproject.toml uv.lock constraints.txt $(wildcard integrations/*/pyproject.toml) tools/setup.sh
SOURCES := src tests tools benchmarks integrations notebooks
POLICY := src/arbiter_rag/samples/policy_en.pdf

.PHONY: help demo test lint format wheels bench lock samples notebooks tables local-llm clean
.DEFAULT_GOAL := help

help:
	@echo "make demo       run the main job on a sample policy (no model needed)"
	@echo "make test       run the tests of the core and of both integrations"
	@echo "make lint       ruff, mypy --strict, import-linter"
	@echo "make format     let ruff format and fix"
	@echo "make wheels     build the distributions and try them in an environment of their own"
	@echo "make bench      run the benchmarks (ARGS='parse --json out.json' picks)"
	@echo "make lock       renew uv.lock and constraints.txt"
	@echo "make samples    write the sample PDFs again"
	@echo "make notebooks  run the notebooks and draw the README's picture again"
	@echo "make tables     measure the README's tables again, but for retrieval (ARGS='hostile quotes' picks)"
	@echo "make local-llm  run the tests that need a small local model"
	@echo "make clean      remove .venv and everything built"

.venv/.ready-run: $(MANIFESTS)
	@sh tools/setup.sh run

.venv/.ready-dev: $(MANIFESTS)
	@sh tools/setup.sh dev

demo: .venv/.ready-run
	@sh tools/demo.sh $(POLICY)

test: .venv/.ready-dev
	$(PY) -m pytest $(ARGS)

lint: .venv/.ready-dev
	$(PY) -m ruff check $(SOURCES)
	$(PY) -m ruff format --check $(SOURCES)
	$(PY) -m mypy
	.venv/bin/lint-imports --no-cache

format: .venv/.ready-dev
	$(PY) -m ruff check --fix $(SOURCES)
	$(PY) -m ruff format $(SOURCES)

wheels: .venv/.ready-dev
	@sh tools/wheels.sh

bench: .venv/.ready-dev
	$(PY) -m benchmarks $(ARGS)

# uv from the path, or the one among the development tools.
UV = $(shell command -v uv || echo .venv/bin/uv)
lock:
	@test -x "$(UV)" || sh tools/setup.sh dev
	$(UV) lock
	$(UV) export --quiet --locked --all-packages --all-extras --all-groups --no-hashes --no-annotate --no-header \
	  --no-emit-workspace --output-file constraints.txt

samples: .venv/.ready-dev
	$(PY) tools/make_samples.py

notebooks: .venv/.ready-dev
	$(PY) tools/run_notebooks.py
	$(PY) tools/make_picture.py

tables: .venv/.ready-dev
	$(PY) -m tools.readme_tables $(ARGS)

local-llm: .venv/.ready-dev
	@sh tools/local_llm.sh

clean:
	rm -rf .venv dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .bench
	find . -name __pycache__ -prune -exec rm -rf {} +
