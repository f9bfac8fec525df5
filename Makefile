# For GNU make 3.81 and later, on Linux and macOS. `make` alone lists what there is.

VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
HEAVY := $(VENV)/.heavy

# `make test-all SKLEARN=1.7.2` puts another scikit-learn before the one in the environment, which stays as it is.
OTHER := $(if $(SKLEARN),$(VENV)/scikit-learn-$(SKLEARN))
# The soak holds estimators to the checks of older scikit-learns, too.
OLDER := $(VENV)/scikit-learn-1.7.2 $(VENV)/scikit-learn-1.8.0
PYTEST := $(RUN) -m pytest -n 2 $(if $(ROOM),tests/$(ROOM) $(wildcard src/discreet/$(ROOM)))

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Compiled files are kept, whatever the shell says: tests start many processes, and each would compile the house again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup setup-all demo test test-all lint wheel format docs theorems house glossary golden notebooks figures soak bench-noise bench-accounting bench-statistics bench-work bench-query bench-attacks bench-audit bench-synthesis bench-local bench-learning bench-theory bench-deep bench-bayes lock clean

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

setup: $(READY) ## make the virtual environment that the other targets use

$(READY): requirements/dev.txt pyproject.toml tools/find-python
	@python=$$(sh tools/find-python) && \
	if ! $(RUN) -c '' 2>/dev/null; then echo "making $(VENV) with $$python"; "$$python" -m venv --clear $(VENV); fi
	@$(RUN) -m tools.install requirements/dev.txt --only-binary :all: --require-hashes
	@$(RUN) -m pip install --quiet --quiet --no-deps --no-build-isolation -e .
	@touch $@

setup-all: $(HEAVY) ## add what only heavy rooms need: torch, Spark, PostgreSQL, a browser's driver

$(HEAVY): $(READY) requirements/heavy.txt
	@$(RUN) -m tools.install requirements/heavy.txt --within requirements/dev.txt
	@touch $@

$(VENV)/scikit-learn-%: | $(READY)
	@echo "installing scikit-learn $* beside the environment"
	@rm -rf $@.part
	@$(RUN) -m pip install --quiet --quiet --only-binary :all: --no-deps --target $@.part scikit-learn==$*
	@mv $@.part $@

demo: $(READY) ## attack a table of exact answers, then ask discreet instead
	@$(VENV)/bin/discreet demo

test: $(READY) ## run every test but the soak, with ROOM=statistics those of one room; the last line says what was skipped
	@OPENBLAS_NUM_THREADS=1 $(PYTEST)

test-all: $(HEAVY) $(OTHER) ## the same, with everything installed that setup-all installs; REQUIRE=spark,browser turns those skips into failures
	@OPENBLAS_NUM_THREADS=1 $(if $(SKLEARN),PYTHONPATH="$(CURDIR)/$(OTHER)") $(PYTEST)

lint: $(READY) ## check style, types and the direction of imports
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy
	@MYPYPATH=src $(RUN) -m mypy --config-file= --strict --follow-imports=silent --cache-dir .mypy_cache/outside tests/typing/documented_calls.py
	@$(VENV)/bin/lint-imports

wheel: $(READY) ## build the wheel, install it with its extra sql in a fresh environment, and use it there
	@$(RUN) -m tools.wheel

format: $(READY) ## put the source into its one form
	@$(RUN) -m ruff check --fix .
	@$(RUN) -m ruff format .

docs: theorems house glossary ## build the documentation into build/docs
	@$(RUN) -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "documentation: build/docs/index.html"

theorems: $(READY) ## write docs/theorems.md from the docstrings
	@$(RUN) -m tools.pages.theorems

house: $(READY) ## write docs/house.md: rooms, floors and files, one sentence each
	@$(RUN) -m tools.pages.house

glossary: $(READY) ## write docs/glossary.md from the public signatures and a table of terms
	@$(RUN) -m tools.pages.glossary

golden: $(READY) ## write tests/golden/* anew, only where a change of results or names is wanted
	@OPENBLAS_NUM_THREADS=1 $(RUN) -m tools.golden

notebooks: $(READY) ## write examples/*.ipynb from the tutorials, executed
	@$(RUN) -m tools.pages.notebooks

figures: $(READY) ## draw docs/_static/*.svg from the exact laws and from the seeded experiments
	@$(RUN) -m tools.figures
	@$(RUN) -m tools.figures.experiments

soak: $(READY) $(OLDER) ## run the heavy checks at full count, with ROOM=statistics those of one room; write docs/evidence/soak*.md
	@mkdir -p build
	@status=0; SOAK=1 HYPOTHESIS_PROFILE=deep $(RUN) -m pytest -n 2 -m soak --junit-xml=build/soak.xml tests/$(ROOM) || status=$$?; \
	$(RUN) -m tools.evidence build/soak.xml --room "$(ROOM)" && exit $$status

bench-noise: $(READY) ## time the noise against the peers, ratios in one run; write docs/evidence/bench-noise.md
	@$(RUN) -m benchmarks.noise.run --write

bench-accounting: $(READY) ## check and time the accountant against its peers; write docs/evidence/bench-accounting.md
	@$(RUN) -m benchmarks.accounting.run --write

bench-statistics: $(READY) ## compare the private statistics with the peers; write docs/evidence/bench-statistics.md
	@$(RUN) -m benchmarks.statistics.run --write

bench-work: $(READY) ## time every statistic on rows of many kinds; write docs/evidence/bench-work.md
	@$(RUN) -m benchmarks.statistics.work --write

bench-query: $(READY) ## time private SQL against plain SQL and the peers; write docs/evidence/bench-query.md
	@$(RUN) -m benchmarks.query.run --write

bench-attacks: $(READY) ## run the attacks at full size against their theory; write docs/evidence/bench-attacks.md
	@$(RUN) -m benchmarks.attacks.run --write

bench-audit: $(READY) ## audit the museum and discreet at full count; write docs/evidence/bench-audit.md
	@$(RUN) -m benchmarks.audit.run --write

bench-synthesis: $(READY) ## release the workloads of the DualQuery paper and others; write docs/evidence/bench-synthesis.md
	@$(RUN) -m benchmarks.synthesis.run --write

bench-local: $(READY) ## compare the local model with its peers and its theory; write docs/evidence/bench-local.md
	@$(RUN) -m benchmarks.local.run --write

bench-learning: $(READY) ## compare private learning with its peers; write docs/evidence/bench-learning.md
	@$(RUN) -m benchmarks.learning.run --write

bench-theory: $(READY) ## hold the theory of learning against measurements; write docs/evidence/bench-theory.md
	@$(RUN) -m benchmarks.theory.run --write

bench-deep: $(HEAVY) ## time private steps of networks beside Opacus, and measure prices, accuracy and audits; write docs/evidence/bench-deep.md
	@$(RUN) -m benchmarks.deep.run --write

bench-bayes: $(READY) ## hold posteriors against simulated truth, the referee and the clock; write docs/evidence/bench-bayes.md
	@$(RUN) -m benchmarks.bayes.run --write

lock: ## write requirements/dev.txt anew from pyproject.toml (needs python3.11)
	@python3.11 -m venv --clear build/lock
	@build/lock/bin/python -m pip install --quiet --quiet pip-tools
	@build/lock/bin/python -m tools.lock

clean: ## remove everything that make made
	@rm -rf $(VENV) .peers build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
