"""A sign flipped in any step of a formulation makes the validation fail."""

import itertools

import numpy as np
import pytest

from symgen.deriving.derivation import derived_program
from symgen.formulations import FORMULATIONS, formulation_named, provided_functions
from symgen.optimize.folding import fold
from symgen.program.products import NEEDED
from symgen.runtime.subjects import Subject, call, random_states
from symgen.validation.evaluated import EvaluatedFormulation
from symgen.validation.validate import validate
from tests.choosing import one_in, some_slow
from tests.exact.mutations import rebuilt, with_node_changed
from tests.modules import described
from tests.oracles.random_models import OF_TREES, Recipe, seeded_model_text, with_first_prescribed

SMALL = Recipe(
    joints=(2, 4), types=("revolute", "prismatic"), loads=(1, 1), points=(1, 2), massless=False
)
RUNTIME, VALUES = ("k",), (0.75,)
PROVIDED = {item.name: provided_functions(item) for item in FORMULATIONS}
FUNCTIONS = tuple(name for name in OF_TREES if any(name in x for x in PROVIDED.values()))
LONG = "_hessian", "_hvp", "_jvp", "_vjp", "outputs", "outputs_derivatives"
DEAR = tuple(name for name in FUNCTIONS if name.endswith(LONG))


def flipped(graph, node, args):
    return graph.neg(rebuilt(graph, node, args))


def with_everything(seed):
    """A random model with a prescribed joint, outputs, and a parameter in lengths and masses."""
    text = with_first_prescribed(seeded_model_text(seed, SMALL))
    text = text.replace("mass: ", "mass: 0.2*k + ").replace("com: [", "com: [0.1*k + ")
    outputs = """outputs:
  distance: sqrt(1 + points.points_0.x**2) * k
  work: t*kinetic_energy + loads.loads_0.fy*points.points_0.vx + points.points_0.az
"""
    return text.replace("point: [", "point: [k + ") + outputs


def mutations(seed, function):
    """Yield programs of random formulations, and with the sign of one statement flipped.

    Another robot every ten times: on some a function is constant, such as loads on the base."""
    rng = np.random.default_rng(seed)
    able = [item for item in FORMULATIONS if function in PROVIDED[item.name]]
    for times in itertools.count():
        if times % 10 == 0:
            description = described(with_everything(seed + 1000 * (times // 10)))
        formulation = able[int(rng.integers(len(able)))]
        program = fold(derived_program(description, formulation, function, RUNTIME), {}, RUNTIME)
        nodes = [statement.value for statement in program.statements] + list(program.results)
        nodes = [node for node in nodes if node.args]
        if nodes:
            node = nodes[int(rng.integers(len(nodes)))]
            yield description, program, with_node_changed(program, node, flipped)


def functions_of(description, program):
    """Return the function, and those that it is compared with where the numeric model has none."""
    formulation, names = formulation_named(program.formulation), NEEDED.get(program.function, ())
    others = {name: derived_program(description, formulation, name, RUNTIME) for name in names}
    return EvaluatedFormulation({**others, program.function: program}, VALUES)


def matters(program, wrong):
    """Return whether the flipped sign shows: that of something squared does not."""
    n = len(program.input("q").symbols)
    states = random_states(n, 1, 2, seed=1, parameters=VALUES)
    name = program.function
    pairs = (call(EvaluatedFormulation({name: x}), name, vars(states)) for x in (program, wrong))
    return not all(np.allclose(x, y, rtol=0, atol=1e-9) for x, y in zip(*pairs, strict=True))


@pytest.mark.parametrize("seed", one_in(4, range(100, 104)))
@pytest.mark.parametrize("function", some_slow(FUNCTIONS, {*FUNCTIONS} - {*DEAR}))
def test_a_flipped_sign_is_found_in_every_function(function, seed):
    """The first mutation that changes a result fails the validation, and the original passes."""
    candidates = mutations(seed, function)
    description, right, wrong = next(m for m in candidates if matters(*m[1:]))
    for program, passes in ((right, True), (wrong, False)):
        functions = functions_of(description, program)
        subject = Subject("mutant", functions, bool(NEEDED.get(right.function)), arrays=False)
        assert validate(description, [subject], runtime=RUNTIME).passed == passes
