"""Fixtures for all tests."""

import gc
import os
import re
import tempfile

import pytest
from hypothesis import HealthCheck, Phase, settings

settings.register_profile(  # wall-clock time fails no test: machines may be slow or busy
    "symgen", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("symgen")
settings.register_profile("found is enough", phases=(Phase.explicit, Phase.generate), database=None)

pytest_plugins = ("tests.budget",)
OBJECTS_BETWEEN_COLLECTIONS = 1_000_000
WHOLE_FILE = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.(slow|deep)\b", re.MULTILINE)
CACHE = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_configure(config):
    """Give the run a cache of its own, shared by its workers, instead of the user's."""
    if not hasattr(config, "workerinput"):
        config.stash[CACHE] = tempfile.TemporaryDirectory(prefix="symgen-tests-")
        os.environ["SYMGEN_CACHE_DIR"] = config.stash[CACHE].name


def pytest_ignore_collect(collection_path, config):
    """Do not import a file whose tests are all of a tier that this run leaves out."""
    left_out = re.findall(r"not (slow|deep)", config.option.markexpr)
    if collection_path.suffix != ".py" or not left_out:
        return None
    tier = WHOLE_FILE.search(collection_path.read_text())
    return True if tier and tier[1] in left_out else None


def pytest_unconfigure(config):
    """Remove the cache."""
    if CACHE in config.stash:
        config.stash[CACHE].cleanup()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def refusal(capfd):
    """Run a command that is refused, with status 2; what it says of that."""
    from symgen.cli import run

    def of(arguments):
        capfd.readouterr()
        assert run(arguments) == 2, arguments
        error = capfd.readouterr().err
        assert error.strip() and "Traceback" not in error, arguments
        return error

    return of


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
