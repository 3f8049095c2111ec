"""Compiled packages are made once per session."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests.emit.building import build
from tests.emit.samples import arm_package

BACKENDS = ("compiled", "cython", "numpy")


@pytest.fixture(scope="session")
def arm_module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The planar arm with all backends."""
    return build(arm_package(), tmp_path_factory.mktemp("arm"), BACKENDS)


@pytest.fixture(scope="session")
def arm_folder(arm_module: ModuleType) -> Path:
    """Where it was written."""
    return Path(str(arm_module.__file__)).parent
