"""Fixtures for all tests."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache_of_its_own(tmp_path_factory):
    """One cache for a test run (shared by the workers of pytest-xdist), not the user's."""
    root = tmp_path_factory.getbasetemp()
    shared = root.parent if os.environ.get("PYTEST_XDIST_WORKER") else root
    former = os.environ.get("SYMGEN_CACHE_DIR")
    os.environ["SYMGEN_CACHE_DIR"] = str(shared / "cache")
    yield
    if former is None:
        del os.environ["SYMGEN_CACHE_DIR"]
    else:
        os.environ["SYMGEN_CACHE_DIR"] = former
