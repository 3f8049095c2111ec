"""A cache of the test's own, and a compiler that never ends."""

import stat
import time

import pytest

from symgen.toolchain.cache import open_cache


@pytest.fixture(autouse=True)
def private_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMGEN_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def interrupt(tmp_path, monkeypatch):
    """Wait for the compiler to run, which would take ten minutes, and interrupt.

    Afterwards it must have been ended, and nothing of it be left."""
    script, started = tmp_path / "cc", tmp_path / "started"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *--version*|*-dM*) exit 0;; esac\n: > {started}; exec sleep 600\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(script))

    def when_it_runs():
        while not started.exists():  # else the test is ended by its time
            time.sleep(0.02)
        raise KeyboardInterrupt

    start = time.monotonic()
    yield when_it_runs
    assert time.monotonic() - start < 60
    assert started.exists()
    assert not (open_cache().folder / "work").exists()
