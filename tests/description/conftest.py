"""MJCF is read without MuJoCo, where a test says so."""

import pytest

from symgen.description.foreign import mujoco


@pytest.fixture
def without_mujoco(monkeypatch):
    monkeypatch.setattr(mujoco, "is_installed", lambda: False)
