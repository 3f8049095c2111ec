"""Every backend of the two-link arm against the printed formulas on 1000 random states."""

from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.toolchain.compiler import CompilerMissingError, find_compiler
from symgen.validation import two_link
from symgen.validation.checks import subjects_of
from symgen.validation.validate import PRINTED_FUNCTIONS, validate_two_link
from tests.choosing import deep

EXAMPLE = Path(__file__).parents[2] / "examples" / "two_link.yaml"


@pytest.mark.parametrize(
    ("source", "flags"),
    [
        (two_link.model_path(), "portable"),
        *deep((EXAMPLE, "native"), (EXAMPLE, "portable"), (two_link.model_path(), "native")),
    ],
    ids=["shipped-portable", "example-native", "example-portable", "shipped-native"],
)
def test_printed_formulas(source, flags):
    robot = symgen.load(
        source, backend="all", formulations="all", functions=PRINTED_FUNCTIONS, flags=flags
    )
    arm = two_link.arm(symgen.read(source).parameter_values)
    result = validate_two_link(subjects_of(robot), arm, samples=1000)
    assert result.passed, str(result)
    assert {row.samples for row in result.rows} == {1000}
    assert all(row.limit <= 1e-13 for row in result.rows)
    subjects = {row.subject for row in result.rows}
    for backend in ("compiled", "cython", "numpy"):
        for formulation in robot.formulations:
            assert f"{formulation} ({backend})" in subjects


def test_the_shipped_arm_has_no_two_equal_parameters():
    arm = two_link.arm(symgen.read(two_link.model_path()).parameter_values)
    assert len(set(arm)) == len(arm)  # otherwise an exchange of two would go unseen


def test_the_compiler_of_this_machine_is_used():
    try:
        find_compiler()
    except CompilerMissingError:
        pytest.skip("no C compiler")
    robot = symgen.load(EXAMPLE, functions="inverse_dynamics")
    assert robot.backend == "compiled"
    assert np.isfinite(robot.inverse_dynamics([0, 0], [0, 0], [0, 0])).all()
