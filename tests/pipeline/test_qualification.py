"""The first use of a tool chain, beside other work."""

from __future__ import annotations

import dataclasses
import stat
import time
from pathlib import Path

import pytest

from symgen.errors import ValidationError
from symgen.pipeline import qualification as module
from symgen.pipeline.qualification import qualification
from symgen.support.journal import Journal
from symgen.toolchain.cache import open_cache
from symgen.toolchain.compiler import find_compiler
from symgen.validation.validate import ValidationResult

NUMPY = (None, "native", ("numpy",))


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGEN_CACHE_DIR", str(tmp_path / "cache"))


def test_once_for_every_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    former = module._two_link
    monkeypatch.setattr(
        module, "_two_link", lambda names, flags: (asked.append(names), former(names, flags))[1]
    )
    journal = Journal()
    with qualification(*NUMPY, journal) as finish:
        assert finish()
    assert "the NumPy backend" in journal.notices[0]
    with qualification(*NUMPY, journal) as finish:
        assert not finish()
    assert asked == [["numpy"]]


def test_one_that_differs_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    former = module.validate_two_link

    def fails(subjects: object) -> ValidationResult:
        found = former(subjects)  # type: ignore[arg-type]
        wrong = dataclasses.replace(found.rows[0], error=1.0)
        return dataclasses.replace(found, rows=(wrong, *found.rows[1:]))

    monkeypatch.setattr(module, "validate_two_link", fails)
    for _ in range(2):  # and it is not remembered as validated
        with (
            qualification(*NUMPY, Journal()) as finish,
            pytest.raises(ValidationError, match="does not reproduce the two-link arm"),
        ):
            finish()


def test_a_fault_of_the_other_work_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, started = tmp_path / "cc", tmp_path / "started"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *--version*|*-dM*) exit 0;; esac\n: > {started}; exec sleep 600\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(script))
    start = time.monotonic()
    with (
        pytest.raises(KeyboardInterrupt),
        qualification(find_compiler(), "native", ("compiled", "numpy"), Journal()),
    ):
        while not started.exists():  # else the test is ended by its time
            time.sleep(0.02)
        raise KeyboardInterrupt
    assert time.monotonic() - start < 60
    assert not (open_cache().folder / "work").exists()
