"""The first use of a tool chain, beside other work."""

import dataclasses

import pytest

from symgen.errors import ValidationError
from symgen.pipeline import qualification as module
from symgen.pipeline.qualification import qualification
from symgen.support.journal import Journal
from symgen.toolchain.compiler import find_compiler

NUMPY = (None, "native", ("numpy",))


@pytest.mark.slow
def test_once_for_every_backend(monkeypatch):
    asked = []
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


@pytest.mark.slow
def test_one_that_differs_is_not_used(monkeypatch):
    former = module.validate_two_link

    def fails(subjects):
        found = former(subjects)
        wrong = dataclasses.replace(found.rows[0], error=1.0)
        return dataclasses.replace(found, rows=(wrong, *found.rows[1:]))

    monkeypatch.setattr(module, "validate_two_link", fails)
    for _ in range(2):  # and it is not remembered as validated
        with (
            qualification(*NUMPY, Journal()) as finish,
            pytest.raises(ValidationError, match="does not reproduce the two-link arm"),
        ):
            finish()


@pytest.mark.slow
def test_a_fault_of_the_other_work_ends_it(interrupt):
    with (
        pytest.raises(KeyboardInterrupt),
        qualification(find_compiler(), "native", ("compiled", "numpy"), Journal()),
    ):
        interrupt()
