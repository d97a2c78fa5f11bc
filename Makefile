# All targets set up what they need below .cache/, and need only Python 3.11+ with pip.
#   make rest ENVS="py312 check"    some tox environments instead of all
#   make quick BASE=main            what differs from main instead of from the last commit

PYTHON ?= python3
ENVS ?=
BASE ?= HEAD
PIP = -m pip --disable-pip-version-check install --quiet
QUICK = .cache/quick-venv
TEST = .cache/test-venv

.PHONY: demo quick rest test test-all

demo:
	$(PYTHON) -m venv .cache/demo-venv
	.cache/demo-venv/bin/python $(PIP) .
	.cache/demo-venv/bin/python .ci/check_demo.py

quick: $(QUICK)/ready
	$(QUICK)/bin/python .ci/quick.py $(BASE)

# mypy fills its cache here once, which takes a minute.
$(QUICK)/ready: pyproject.toml tests/requirements.txt .ci/requirements.txt
	$(PYTHON) -m venv $(QUICK)
	$(QUICK)/bin/python $(PIP) -e . -r tests/requirements.txt -r .ci/requirements.txt
	-$(QUICK)/bin/mypy
	touch $@

# On one Python, in five minutes. --clear, since PYTHON may be another one than before.
test:
	$(PYTHON) -m venv --clear $(TEST)
	$(TEST)/bin/python $(PIP) -e . -r tests/requirements.txt
	$(TEST)/bin/python -m pytest -q -n auto --dist worksteal -m "not thorough"

# Everything else: the other Pythons, other plugins, real servers, and all checks.
rest:
	$(PYTHON) -m venv .cache/tox-venv
	.cache/tox-venv/bin/python $(PIP) "tox>=4.20" "tox-uv>=1.16"
	.cache/tox-venv/bin/python .ci/run_tox.py $(ENVS)

test-all: test rest
