"""Refuses a Python that is too old before pip resolves dependencies; see pyproject.toml."""

import sys

from setuptools import setup

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        f"symgen needs Python 3.11 or later; this is {sys.version.split()[0]}. Create the virtual "
        "environment with a newer one: apt install python3.12-venv (Ubuntu 24.04), brew install "
        "python@3.12, or `uv venv --python 3.12`."
    )

setup()
