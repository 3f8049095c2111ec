"""Every test of the tool chain has a cache of its own, and its own compiler settings."""

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
    """What the system says that this processor has; tests may change it."""
    features = ["sse2"]
    monkeypatch.setattr(compiler_module, "_features_here", lambda: features)
    return features


@pytest.fixture
def fake_compiler(tmp_path, monkeypatch):
    """Make ``CC`` a shell script that answers --version and does what `body` says otherwise."""

    def make(body):
        script = tmp_path / f"fake-cc-{len(os.listdir(tmp_path))}"
        answer = 'case "$*" in *--version*) echo "fake cc 1.0"; exit 0;; esac'
        script.write_text(f"#!/bin/sh\n{answer}\n{body}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("CC", str(script))
        return script

    return make
