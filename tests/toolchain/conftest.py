"""Fixtures of toolchain tests: every test has a private cache and private compiler settings."""

import os
import stat

import pytest

from symgen.toolchain import compiler as compiler_module
from symgen.toolchain.cache import open_cache


@pytest.fixture(autouse=True)
def private_cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("SYMGEN_CACHE_DIR", str(folder))
    monkeypatch.delenv("CC", raising=False)
    return folder


@pytest.fixture
def cache(private_cache):
    return open_cache()


@pytest.fixture
def listed_features(monkeypatch):
    """Replace the processor features that the system reports by a list that tests may modify."""
    features = ["sse2"]
    monkeypatch.setattr(compiler_module, "_features_here", lambda: features)
    return features


@pytest.fixture
def fake_compiler(tmp_path, monkeypatch):
    """Set ``CC`` to a shell script that answers --version, and otherwise runs `body`."""

    def make(body):
        script = tmp_path / f"fake-cc-{len(os.listdir(tmp_path))}"
        answer = 'case "$*" in *--version*) echo "fake cc 1.0"; exit 0;; esac'
        script.write_text(f"#!/bin/sh\n{answer}\n{body}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("CC", str(script))
        return script

    return make
