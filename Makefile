# `make demo` and `make test` do all set-up themselves.  They need Python 3.11 or later with its
# headers and venv, a C compiler, and make.  `make PYTHON=/path/to/python3.12 demo` chooses a Python.

VENV := .venv
BIN := $(VENV)/bin
CANDIDATES := python3.13 python3.12 python3.11 python3 python
PIP := $(BIN)/python -m pip install --disable-pip-version-check
PIP_INSTALL := $(PIP) --quiet
# The demo runs in the active virtual environment if symgen is installed there.
ACTIVE := $(patsubst %/symgen,%,$(if $(VIRTUAL_ENV),$(wildcard $(VIRTUAL_ENV)/bin/symgen)))
DEMO_BIN := $(or $(ACTIVE),$(BIN))
PYTEST_FLAGS ?= -n auto --dist loadfile
CHECKED := $(wildcard symgen manual docs tests examples benchmarks)

# The workers and processes of the tests import the same modules hundreds of times.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: demo test test-rest test-all test-deep lint docs bench bench-growth bench-plan bench-products pictures clean help

help:
	@echo "make demo      build examples/two_link.yaml, use it from Python, and write a report on it"
	@echo "make test      run the tests: minutes (PYTEST_FLAGS=... for pytest's options)"
	@echo "make test-rest the tests that are marked slow"
	@echo "make test-all  both"
	@echo "make test-deep seeds, planted faults, killed builds, long fuzzing: hours"
	@echo "make lint      check style, format and types"
	@echo "make docs      build the documentation into site/"
	@echo "make bench     time symgen beside Pinocchio, CasADi, MuJoCo, SymPy (BENCH=... for options)"
	@echo "make bench-growth  how builds and calls grow with the number of joints"
	@echo "make bench-products  products of derivatives and vectors beside the matrices"
	@echo "make bench-plan    the same optimal motions with symgen, CasADi, Pinocchio, Drake, Crocoddyl"
	@echo "make pictures  docs/pictures/*.svg, what symgen prints on a terminal, from real runs"
	@echo "make clean     remove the virtual environment and what tools left behind"

demo: $(if $(ACTIVE),,$(VENV)/.installed)
	@echo "using symgen in $(DEMO_BIN)"
	@echo "1 of 3: build the module of a two-link arm; the first build also checks the compiler"
	$(DEMO_BIN)/symgen build examples/two_link.yaml
	@echo "2 of 3: compute torques, accelerations and derivatives with it"
	$(DEMO_BIN)/python examples/use_two_link.py
	@echo "3 of 3: write a page with its equations and a calculator (without --quick: timings, too)"
	$(DEMO_BIN)/symgen report examples/two_link.yaml -o two_link.html --quick

# Budgets are multiples of the processor time of one build of examples/arm7.yaml (tests/budget.py).
test: $(VENV)/.installed-for-tests
	$(BIN)/python -m pytest -m "not slow and not deep" --builds 12 $(PYTEST_FLAGS)

test-rest: $(VENV)/.installed-for-tests
	$(BIN)/python -m pytest -m "slow and not deep" --builds 66 $(PYTEST_FLAGS)

test-all: test test-rest

# tests/deep.md says when it was run as a whole, and what came of it.
test-deep: $(VENV)/.installed-for-tests
	@mkdir -p build
	$(BIN)/python -m pytest -m deep $(PYTEST_FLAGS)
	$(BIN)/python -m tests.validation.random_builds --models 200 --log build/random_models.jsonl
	$(BIN)/python -m tests.validation.random_builds --models 20 --backend compiled \
		--log build/random_compiled_models.jsonl
	$(BIN)/python -m tests.hostile.fuzz --inputs 20000 --finds build/finds
	$(BIN)/python -m tests.dependability.killing --builds 300

lint: $(VENV)/.installed-for-tests
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/mypy

# Every link and every reference is checked; the first that leads nowhere ends it.
docs: $(VENV)/.installed-for-docs
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env docs site
	@echo "site/index.html is the first page"

# The first `make bench` compiles Pinocchio's headers, which takes four minutes.
bench: $(VENV)/.installed-for-benchmarks
	$(BIN)/python -m benchmarks.compare $(BENCH)
	$(BIN)/python -m benchmarks.new_results
	$(BIN)/python -m benchmarks.mechanisms
	$(BIN)/python -m benchmarks.builds
	$(BIN)/python -m benchmarks.products

bench-growth: $(VENV)/.installed-for-benchmarks
	$(BIN)/python -m benchmarks.growth $(BENCH)

bench-products: $(VENV)/.installed-for-tests
	$(BIN)/python -m benchmarks.products $(BENCH)

bench-plan: $(VENV)/.installed-for-planning-benchmarks
	$(BIN)/python -m benchmarks.planning $(BENCH)

pictures: $(VENV)/.installed
	$(BIN)/python -m benchmarks.terminal_pictures

clean:
	rm -rf $(VENV) build dist site symgen.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(CHECKED) $(wildcard templates) -name __pycache__ -type d -prune \
		-exec rm -rf {} +

# Each of these files is written after its step succeeded, so that an interrupted one starts again.
$(VENV)/.installed: pyproject.toml $(VENV)/.created
	@echo "installing symgen and what it needs into $(VENV): about a minute"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.installed-for-tests: pyproject.toml $(VENV)/.created
	@echo "installing symgen, the test tools and the linters into $(VENV)"
	@$(PIP_INSTALL) --editable '.[test,lint]'
	@[ -z "$$CI" ] || for extra in compiler test-robots browser docs; do \
	  $(PIP_INSTALL) --editable ".[$$extra]" || echo "without the extra $$extra" >&2; \
	done
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-for-docs: pyproject.toml $(VENV)/.created
	@echo "installing symgen and Sphinx into $(VENV)"
	@$(PIP_INSTALL) --editable '.[docs]'
	@touch $@ $(VENV)/.installed

# A peer that cannot be installed here is left out; the comparison names it.
$(VENV)/.installed-for-benchmarks: pyproject.toml $(VENV)/.created
	@echo "installing symgen and those that it is compared with into $(VENV)"
	@$(PIP_INSTALL) --editable '.[bench]' || { \
	  $(PIP_INSTALL) --editable . ; \
	  for peer in matplotlib scipy xarray pin cmeel-eigen casadi mujoco exudyn; do \
	    $(PIP_INSTALL) "$$peer" || echo "without $$peer" >&2; \
	  done; }
	@touch $@ $(VENV)/.installed

# Drake and Crocoddyl have wheels for some platforms; the comparison names those that are missing.
$(VENV)/.installed-for-planning-benchmarks: $(VENV)/.installed-for-benchmarks
	@for peer in drake crocoddyl; do \
	  $(PIP_INSTALL) "$$peer" || echo "without $$peer" >&2; \
	done
	@touch $@

# A Python with its C headers is preferred: compiled modules need them.  The candidates are run, not
# looked up, because a command of that name may exist and not work.
$(VENV)/.created:
	@set -e; \
	good='import sys; sys.exit(sys.version_info < (3, 11))'; \
	venv='import ensurepip, venv'; \
	headers='import os, sysconfig as s; open(os.path.join(s.get_path("include"), "Python.h"))'; \
	works() { "$$1" -c "$$2" >/dev/null 2>&1; }; \
	found=; old=; bare=; \
	for python in $(if $(PYTHON),'$(PYTHON)',$(CANDIDATES)); do \
	  works "$$python" 'import sys' || continue; \
	  works "$$python" "$$good" || { old="$$old $$python"; continue; }; \
	  works "$$python" "$$venv" || { bare="$$bare $$python"; continue; }; \
	  if works "$$python" "$$headers"; then found="$$python"; break; fi; \
	  [ -n "$$found" ] || found="$$python"; \
	done; \
	if [ -z "$$found" ] && [ -n "$$bare" ]; then \
	  echo "Found$$bare, but without venv and ensurepip." >&2; \
	  echo "Install python3-venv (Debian, Ubuntu: apt install python3-venv python3-dev)." >&2; \
	  exit 1; \
	elif [ -z "$$found" ]; then \
	  echo "symgen needs Python 3.11 or later$${old:+; too old:$$old}." >&2; \
	  echo "Install it, or name one: make PYTHON=/path/to/python3" >&2; \
	  exit 1; \
	fi; \
	echo "making $(VENV) with $$("$$found" --version) ($$found)"; \
	rm -rf $(VENV); \
	"$$found" -m venv $(VENV); \
	touch $@
