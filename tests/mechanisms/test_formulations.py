"""Lines of constraints by the semi-recursive formulations, and mechanisms by one alone."""

from __future__ import annotations

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.formulations import VARIANTS, derive
from symgen.formulations.semi_recursive import SEMI_RECURSIVE
from symgen.kinematics.tree import build_tree
from tests.mechanisms.models import BY_STATE, FOUR_BAR, SEAT, body, loaded, model
from tests.oracles.descriptions import described
from tests.oracles.lines import compared, slopes_of, values_of

pytestmark = pytest.mark.slow

TOGETHER = FOUR_BAR + "relations: {track: points.tip.x - sin(t)*L*q.rocker**2}\n"


def spatial(coordinates="quaternion"):
    """Every kind of row between an arm, a hand on a ball and a free body."""
    joints = [
        {"name": "shoulder", "type": "universal", "origin": SEAT, "link": body("arm", 1.5)},
        {"name": "wrist", "type": "spherical", "coordinates": coordinates,
         "origin": {"xyz": ["0.3*w", 0, 0.1]}, "link": body("hand", "w")},
        {"name": "slide", "type": "helical", "pitch": 0.1, "parent": "base", "origin": {},
         "link": body("block", 0.7)},
    ]  # fmt: skip
    ends = {"first": {"link": "hand", "origin": SEAT, "axis": [0.3, -0.5, 0.8]},
            "second": {"link": "block", "axis": [0, 0.6, "0.8*w"]}}  # fmt: skip
    loops = [{"name": kind, "type": kind, **ends} for kind in ("prismatic", "universal", "planar")]
    loops.append({"name": "rod", "type": "distance", "length": "w", **ends})
    return model("spatial", joints, loops=loops, parameters={"w": 1.2})


def test_the_semi_recursive_formulation_serves_alone():
    """Accelerations, multipliers and their derivatives are those of the fastest formulations."""
    whole, alone = (
        loaded(FOUR_BAR, BY_STATE, **x) for x in ({}, {"formulations": "semi_recursive"})
    )
    assert tuple(alone.formulations) == ("semi_recursive",)
    q = whole.assemble(hold=["crank"])
    assert np.allclose(alone.assemble(hold=["crank"]), q, atol=1e-12)
    state = q, whole.closed_velocities(q, whole.initial_qd), [1.3, 0, 0]
    results = [x.constrained_forward_dynamics_derivatives(*state) for x in (whole, alone)]
    for one, other in zip(*results, strict=True):
        assert np.allclose(one, other, atol=1e-10, equal_nan=True)


@pytest.mark.parametrize("formulation", (SEMI_RECURSIVE, *VARIANTS), ids=lambda x: x.name)
def test_each_line_of_constraints_is_the_derivative_that_its_name_says(formulation):
    """(38), (39), (48) to (51): q_zz and the derivatives of rates, of rows and what they are of."""
    terms = {
        "constraint_torque_derivatives": {"J", "p", "r", "u", "w", "x"},
        "constraint_acceleration_derivatives": {"a", "cd", "cdd", "u", "v", "x"},
    }
    seen = {name: set() for name in terms}
    for text in (TOGETHER, spatial("euler_parameters")):
        description, random = described(text), np.random.default_rng(3)
        tree = build_tree(description, Graph())
        state = {name: random.normal(size=tree.n) for name in ("q", "qd", "qdd")}
        state["constraint_multipliers"] = random.normal(size=len(tree.constraint_names))
        given = {**state, "t": np.array(0.7)}, description.parameter_values
        for function, found in seen.items():
            program = derive(tree, formulation, function)
            variables = [f"q_{k + 1}" for k in range(tree.n)]
            slopes = slopes_of(program, *given, "q")
            lines = compared(values_of(program, *given), slopes, variables)
            found.update(line.split("_")[0] for line in lines)
    assert seen == terms
