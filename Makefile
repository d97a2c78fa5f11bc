# Both targets set up what they need below .cache/, and need only Python 3.11+ with pip.
#   make test ENVS="py312 lint"    some tox environments instead of all

PYTHON ?= python3
ENVS ?=
PIP = -m pip --disable-pip-version-check install --quiet

.PHONY: demo test

demo:
	$(PYTHON) -m venv .cache/demo-venv
	.cache/demo-venv/bin/python $(PIP) .
	.cache/demo-venv/bin/python .ci/check_demo.py

test:
	$(PYTHON) -m venv .cache/test-venv
	.cache/test-venv/bin/python $(PIP) "tox>=4.20" "tox-uv>=1.16"
	.cache/test-venv/bin/python .ci/run_tox.py $(ENVS)
