"""Fixtures for all tests."""

import gc
import os

import pytest
from hypothesis import HealthCheck, Phase, settings

settings.register_profile(  # wall-clock time fails no test: machines may be slow or busy
    "symgen", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("symgen")
settings.register_profile("found is enough", phases=(Phase.explicit, Phase.generate), database=None)

pytest_plugins = ("tests.slow_tests",)
OBJECTS_BETWEEN_COLLECTIONS = 1_000_000


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
def collections_are_rare():
    """The cyclic garbage collector walks through growing graphs again and again, for nothing."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    yield
    gc.set_threshold(*before)
    gc.unfreeze()
