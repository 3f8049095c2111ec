"""Derivatives with respect to runtime parameters: complex steps through another formulation."""

from dataclasses import replace

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.formulations import derive
from symgen.formulations.closed_form_lagrange import CLOSED_FORM_LAGRANGE
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.formulations.recursive_lagrange import RECURSIVE_LAGRANGE
from symgen.kinematics.tree import build_tree
from symgen.optimize.folding import fold
from symgen.program.evaluation import call
from tests.choosing import deep, some_deep
from tests.oracles.comparison import STEP, agrees, state_of
from tests.oracles.parameter_kinds import every_kind

DESCRIPTION, RUNTIME = every_kind()
SOME = ("gz", "a1", "al", "m1", "roll", "gear", "v")
VALUES = DESCRIPTION.parameter_values
RESULTS = {
    "inverse_dynamics": 1,
    "point_motion": 3,
    "kinetic_energy": 1,
    "potential_energy": 1,
}
PAIRS = (
    (NEWTON_EULER, RECURSIVE_LAGRANGE),
    (RECURSIVE_LAGRANGE, NEWTON_EULER),
    (CLOSED_FORM_LAGRANGE, NEWTON_EULER),
)
CASES = [
    (formulation, other, function)
    for formulation, other in PAIRS
    for function in RESULTS
    if function in formulation.functions
]
SOLVED = ("forward_dynamics", "hybrid_dynamics")


def a_tree(algebra, runtime, prescribed=()):
    tree = build_tree(DESCRIPTION, algebra, runtime)
    joints = tuple(replace(j, prescribed=j.number in prescribed) for j in tree.joints)
    return replace(tree, joints=joints)


def program(formulation, function, runtime=RUNTIME, prescribed=()):
    tree = a_tree(Graph(), runtime, prescribed)
    return fold(derive(tree, formulation, function), VALUES, runtime)


def situation(seed, runtime=RUNTIME):
    rng = np.random.default_rng(seed)
    state = state_of(DESCRIPTION, seed)
    n = len(state["q"])
    values = np.array([VALUES[name] for name in runtime])
    return {**state, "tau": rng.uniform(-10, 10, n), "parameters": values}


def moved_along_parameters(state):
    """The state with a complex step along every parameter in turn."""
    values = state["parameters"]
    return {**state, "parameters": values + 1j * STEP * np.eye(len(values))}


def slope(values):
    """The derivative that the results of a complex step hold, its axis last."""
    return np.moveaxis(values.imag / STEP, 0, -1)


@pytest.mark.parametrize(
    ("formulation", "other", "function"), CASES, ids=[f"{f.name}-{name}" for f, _, name in CASES]
)
@pytest.mark.parametrize(
    "runtime", some_deep([RUNTIME, SOME], [RUNTIME], alone=True), ids=["all", "some"]
)
def test_derivatives_equal_complex_steps(formulation, other, function, runtime):
    state = situation(1, runtime)
    found = call(program(formulation, f"{function}_parameter_derivatives", runtime), state)
    undifferentiated = program(other, function, runtime)
    expected = [slope(x) for x in call(undifferentiated, moved_along_parameters(state))]
    assert len(found) == len(expected) == RESULTS[function]
    for value, reference in zip(found, expected, strict=True):
        assert agrees(value, reference)


def test_every_parameter_matters_somewhere():
    """No parameter of the model is in vain: each changes the torques, the energies or a point."""
    state = situation(1)
    seen = np.zeros(len(RUNTIME), dtype=bool)
    for function in RESULTS:
        for value in call(program(NEWTON_EULER, f"{function}_parameter_derivatives"), state):
            seen |= (value.reshape(-1, len(RUNTIME)) != 0).any(axis=0)
    assert seen.all()


def numpy_solution(state, prescribed, runtime=RUNTIME):
    """y from another formulation's mass matrix and bias forces, for complex arguments, too."""
    mass = call(program(RECURSIVE_LAGRANGE, "mass_matrix", runtime), state)[0]
    bias = call(program(RECURSIVE_LAGRANGE, "bias_forces", runtime), state)[0]
    n = mass.shape[-1]
    p = np.array([j in prescribed for j in range(1, n + 1)])
    x = np.broadcast_to(state["x"] if prescribed else state["tau"], bias.shape)
    rhs = np.where(p, 0, x - bias - np.einsum("...ij,...j->...i", mass, np.where(p, x, 0)))
    block = np.where(p[:, None] | p, np.eye(n), mass)
    qdd = np.where(p, x, np.linalg.solve(block, rhs[..., None])[..., 0])
    return np.where(p, bias + np.einsum("...ij,...j->...i", mass, qdd), qdd)


@pytest.mark.parametrize("runtime", [RUNTIME, SOME], ids=["all", "some"])
@pytest.mark.parametrize("prescribed", [(), (2, 4), *deep(((1,),), ((3, 7),))], ids=str)
def test_accelerations_vary_as_complex_steps_say(prescribed, runtime):
    state = situation(2, runtime)
    p = np.array([j in prescribed for j in range(1, len(state["q"]) + 1)])
    state["x"] = np.where(p, state["qdd"], state["tau"])
    kind = "hybrid_dynamics" if prescribed else "forward_dynamics"
    function = f"{kind}_parameter_derivatives"
    value = call(program(NEWTON_EULER, function, runtime, prescribed), state)[0]
    expected = slope(numpy_solution(moved_along_parameters(state), prescribed, runtime))
    assert agrees(value, expected)


@pytest.mark.parametrize("runtime", [RUNTIME, SOME], ids=["all", "some"])
def test_sensitivities_follow_the_state(runtime):
    """q, qd and tau move with the parameters: one complex step through all of them."""
    state = situation(3, runtime)
    n, p = len(state["q"]), len(runtime)
    rng = np.random.default_rng(3)
    along = {name: rng.uniform(-1, 1, (n, p)) for name in ("dq", "dqd", "dtau")}
    results = call(
        program(NEWTON_EULER, "forward_dynamics_sensitivities", runtime), {**state, **along}
    )
    moved = moved_along_parameters(state)
    for name in ("q", "qd", "tau"):
        moved[name] = state[name] + 1j * STEP * along[f"d{name}"].T
    assert agrees(results[0], numpy_solution(state, (), runtime))
    assert agrees(results[1], slope(numpy_solution(moved, (), runtime)))


@pytest.mark.parametrize("function", SOLVED)
def test_pivots_are_those_of_the_function_itself(function):
    prescribed = (2,)
    at = {name: values for name, values in situation(4).items() if not name.startswith("d")}
    state = {**at, "x": at["tau"]}
    plain = call(program(NEWTON_EULER, function, RUNTIME, prescribed), state)
    names = [f"{function}_derivatives", f"{function}_parameter_derivatives"]
    if function == "forward_dynamics":
        names.append("forward_dynamics_sensitivities")
    for name in names:
        results = call(program(NEWTON_EULER, name, RUNTIME, prescribed), state)
        assert agrees(results[-2], plain[-2]) and agrees(results[-1], plain[-1])
