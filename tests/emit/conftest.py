"""Where the packages of a session are."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def arm_folder(arm_module: ModuleType) -> Path:
    """Where it was written."""
    return Path(str(arm_module.__file__)).parent
