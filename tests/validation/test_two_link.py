"""The printed formulas of the two-link arm: against the numeric model, and wrong."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from symgen.description import read
from symgen.errors import ValidationError
from symgen.runtime import limits
from symgen.runtime.subjects import Subject
from symgen.validation import two_link
from symgen.validation.oracles import NumericRobot
from symgen.validation.two_link import validate_two_link
from tests.oracles.fake_module import altered, formulation

UNLIKE = {"L1": 0.41, "L2": 0.37, "l1": 0.23, "l2": 0.11, "m1": 0.6, "m2": 0.9, "I1": 0.12,
          "I2": 0.07, "g": 9.5}  # fmt: skip


def robot(parameters=None):
    return NumericRobot(read(two_link.model_path()), parameters)


def test_plain_numbers_and_arrays_give_the_same():
    arm = two_link.Arm(**UNLIKE)
    q, qd, qdd = (0.3, -1.2), (0.5, 0.7), (-0.2, 0.9)
    plain = two_link.torques(arm, q, qd, qdd, 2.0, math)
    arrays = two_link.torques(arm, *(np.array(x)[:, None] for x in (q, qd, qdd)), 2.0)
    assert plain == pytest.approx([float(x[0]) for x in arrays], rel=1e-15)


@pytest.mark.parametrize("parameters", [{}, UNLIKE])
def test_numeric_model_equals_the_printed_formulas(parameters):
    arm = two_link.arm({**read(two_link.model_path()).parameter_values, **parameters})
    result = validate_two_link([Subject("numeric", robot(parameters))], arm)
    result.raise_if_failed()
    assert {row.samples for row in result.rows} == {1000}
    assert {row.limit for row in result.rows} == {limits.TWO_LINK}
    assert len(result.rows) == 12  # nine functions, one of them with four results


def test_the_shipped_arm_is_the_default():
    """No two of its parameters are equal: otherwise an exchange of two would go unseen."""
    values = two_link.arm(read(two_link.model_path()).parameter_values)
    assert len({*values}) == len(values)
    assert validate_two_link([Subject("numeric", robot())]).passed
    assert not validate_two_link([Subject("numeric", robot(UNLIKE))], samples=20).passed


@pytest.mark.parametrize("parameter", two_link.Arm._fields)
def test_every_parameter_matters(parameter):
    wrong = robot({parameter: UNLIKE[parameter]})
    assert not validate_two_link([Subject("numeric", wrong)], samples=20).passed


@pytest.mark.parametrize(("name", "change", "failing"), [
    ("inverse_dynamics", lambda x, *_: -x, ["inverse_dynamics ="]),
    ("inverse_dynamics_derivatives", lambda x, *_: (x[0], -x[1], x[2], x[3]),
     ["inverse_dynamics_derivatives, dtau_dq ="]),
    ("inverse_dynamics_derivatives",
     lambda x, *_: (x[0], x[1], np.swapaxes(x[2], -1, -2), x[3]),
     ["inverse_dynamics_derivatives, dtau_dqd ="]),
    ("mass_matrix", lambda x, *_: x * (1 + 1e-12), ["mass_matrix ="]),
    ("gravity_forces", lambda x, *_: -x, ["gravity_forces ="]),
    ("coriolis_matrix", lambda x, *_: np.swapaxes(x, -1, -2), ["coriolis_matrix ="]),
    ("inverse_dynamics_load_derivatives", lambda x, *_: -x, ["inverse_dynamics_load_deriv"]),
])  # fmt: skip
def test_a_wrong_function_is_named(name, change, failing):
    wrong = formulation(robot(), altered(robot(), name, change))
    result = validate_two_link([Subject("newton_euler (compiled)", wrong)], samples=50)
    assert len(result.failures) == len(failing)
    for row, start in zip(result.failures, failing, strict=True):
        assert row.name.startswith(start)
    with pytest.raises(ValidationError, match=r"newton_euler \(compiled\): .* does not hold"):
        result.raise_if_failed()


def test_missing_functions_are_left_out():
    only = SimpleNamespace(mass_matrix=robot().mass_matrix)
    (row,) = validate_two_link([Subject("s", only)]).rows
    assert row.name.startswith("mass_matrix =")
