"""Refuses a Python that is too old before pip resolves dependencies; see pyproject.toml."""

import sys

from setuptools import setup

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        "symgen needs Python 3.11 or later; this is Python %d.%d. Create the virtual environment "
        "with a newer one: apt install python3.12-venv (Ubuntu 24.04), brew install python@3.12, "
        "or `uv venv --python 3.12`." % sys.version_info[:2]  # noqa: UP031
    )

setup()
