# For GNU make 3.81 and later, on Linux and macOS. `make` alone lists what there is.

VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format docs theorems golden notebooks figures soak bench-noise bench-accounting bench-statistics bench-work bench-query bench-attacks bench-audit bench-synthesis bench-local lock clean

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

setup: $(READY) ## make the virtual environment that the other targets use

$(READY): requirements/dev.txt pyproject.toml tools/find-python
	@python=$$(sh tools/find-python) && \
	if ! $(RUN) -c '' 2>/dev/null; then echo "making $(VENV) with $$python"; "$$python" -m venv --clear $(VENV); fi
	@echo "installing requirements/dev.txt"
	@$(RUN) -m pip install --quiet --quiet --only-binary :all: --require-hashes -r requirements/dev.txt
	@$(RUN) -m pip install --quiet --quiet --no-deps --no-build-isolation -e .
	@touch $@

demo: $(READY) ## attack a table of exact answers, then ask discreet instead
	@$(VENV)/bin/discreet demo

test: $(READY) ## run every test but the soak; REQUIRE=spark,browser turns those skips into failures
	@OPENBLAS_NUM_THREADS=1 $(RUN) -m pytest -n 2

lint: $(READY) ## check style, types and the direction of imports
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy
	@$(VENV)/bin/lint-imports

format: $(READY) ## put the source into its one form
	@$(RUN) -m ruff check --fix .
	@$(RUN) -m ruff format .

docs: theorems ## build the documentation into build/docs
	@$(RUN) -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "documentation: build/docs/index.html"

theorems: $(READY) ## write docs/theorems.md from the docstrings
	@$(RUN) -m tools.theorems

golden: $(READY) ## write tests/golden/* anew, only where a change of results or names is wanted
	@OPENBLAS_NUM_THREADS=1 $(RUN) -m tools.golden

notebooks: $(READY) ## write examples/*.ipynb from the tutorials, executed
	@$(RUN) -m tools.notebooks

figures: $(READY) ## draw docs/_static/*.svg from the exact laws and from the seeded experiments
	@$(RUN) -m tools.figures
	@$(RUN) -m tools.experiments

soak: $(READY) ## run the heavy checks at full count, with ROOM=statistics those of one room; write docs/evidence/soak*.md
	@mkdir -p build
	@status=0; SOAK=1 HYPOTHESIS_PROFILE=deep $(RUN) -m pytest -n 2 -m soak --junit-xml=build/soak.xml tests/$(ROOM) || status=$$?; \
	$(RUN) -m tools.evidence build/soak.xml --room "$(ROOM)" && exit $$status

bench-noise: $(READY) ## time the noise against the peers, ratios in one run; write docs/evidence/bench-noise.md
	@$(RUN) benchmarks/noise.py --write

bench-accounting: $(READY) ## check and time the accountant against its peers; write docs/evidence/bench-accounting.md
	@PYTHONPATH=. $(RUN) benchmarks/accounting.py --write

bench-statistics: $(READY) ## compare the private statistics with the peers; write docs/evidence/bench-statistics.md
	@$(RUN) benchmarks/private_statistics.py --write

bench-work: $(READY) ## time every statistic on rows of many kinds; write docs/evidence/bench-work.md
	@$(RUN) benchmarks/statistics_work.py --write

bench-query: $(READY) ## time private SQL against plain SQL and the peers; write docs/evidence/bench-query.md
	@$(RUN) benchmarks/query.py --write

bench-attacks: $(READY) ## run the attacks at full size against their theory; write docs/evidence/bench-attacks.md
	@$(RUN) benchmarks/attacks.py --write

bench-audit: $(READY) ## audit the museum and discreet at full count; write docs/evidence/bench-audit.md
	@$(RUN) benchmarks/audit.py --write

bench-synthesis: $(READY) ## release the workloads of the DualQuery paper and others; write docs/evidence/bench-synthesis.md
	@$(RUN) benchmarks/synthesis.py --write

bench-local: $(READY) ## compare the local model with its peers and its theory; write docs/evidence/bench-local.md
	@$(RUN) benchmarks/local.py --write

lock: ## write requirements/dev.txt anew from pyproject.toml (needs python3.11)
	@python3.11 -m venv --clear build/lock
	@build/lock/bin/python -m pip install --quiet --quiet pip-tools
	@build/lock/bin/python -m tools.lock

clean: ## remove everything that make made
	@rm -rf $(VENV) .peers build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
