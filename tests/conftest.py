"""Fixtures for all tests."""

import gc
import os

import pytest

MOST_UNCOLLECTED = 1_000_000
"""Objects made since the last collection that may wait for the next."""


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


@pytest.fixture(scope="session")
def arm_module(tmp_path_factory):
    """The planar arm of `tests.emit.samples` with all backends."""
    from tests.emit.building import BACKENDS, build
    from tests.emit.samples import arm_package

    return build(arm_package(), tmp_path_factory.mktemp("arm"), BACKENDS)


@pytest.fixture(scope="session", autouse=True)
def no_collection_within_tests():
    """The cyclic garbage collector would walk through growing graphs again and again."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


@pytest.fixture(autouse=True)
def collection_between_tests(no_collection_within_tests):
    yield
    if gc.get_count()[0] > MOST_UNCOLLECTED:
        gc.collect()
