"""A sign flipped in any step of a formulation makes the validation fail."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from symgen.algebra.evaluation import NUMPY
from symgen.algebra.nodes import ADD, CONST, DIV, MUL, NEG, SUB, SYMBOL, reachable
from symgen.deriving.derivation import derived_program
from symgen.formulations import FORMULATIONS, formulation_named, provided_functions
from symgen.program.functions import OF_TREES, function_named
from symgen.program.products import NEEDED
from symgen.validation.checks import SEVERAL_RESULTS, Subject, call, random_states
from symgen.validation.validate import validate
from tests.choosing import one_in, some_slow
from tests.oracles.descriptions import described
from tests.oracles.random_models import Recipe, seeded_model_text

SMALL = Recipe(
    joints=(2, 4), types=("revolute", "prismatic"), loads=(1, 1), points=(1, 2), massless=False
)
RUNTIME, VALUES = ("k",), (0.75,)
PROVIDED = {item.name: provided_functions(item) for item in FORMULATIONS}
FUNCTIONS = tuple(name for name in OF_TREES if any(name in x for x in PROVIDED.values()))
LONG = "_hessian", "_hvp", "_jvp", "_vjp", "outputs", "outputs_derivatives"
DEAR = tuple(name for name in FUNCTIONS if name.endswith(LONG))
ARITHMETIC = {
    ADD: np.add, SUB: np.subtract, MUL: np.multiply, DIV: np.divide, NEG: np.negative,
}  # fmt: skip


def function_of(program, flipped=-1):
    """The program as a function; the node numbered `flipped` has the wrong sign."""
    function = function_named(program.function)

    def run(*arguments, loads=None, parameters=None, **directions):
        given = dict(zip((a.name for a in function.arguments), arguments, strict=True))
        given |= {"dloads": np.zeros((len(arguments[0]), 1, 6)),
                  "dparameters": np.zeros((len(arguments[0]), 1)), **directions}  # fmt: skip
        given["parameters"] = np.tile(VALUES, (len(arguments[0]), 1))
        if parameters is not None:
            given["parameters"] = parameters
        given["loads"] = np.zeros((len(arguments[0]), 1, 6)) if loads is None else loads
        symbols = {}
        for array in program.inputs:
            if array.symbols:
                columns = given[array.name].reshape(len(arguments[0]), -1).T
                symbols |= dict(zip(array.symbol_names, columns, strict=True))
        values = {}
        for node in reachable(program.results):
            if node.op is CONST:
                value = node.value
            elif node.op is SYMBOL:
                value = symbols[node.name]
            else:
                operation = ARITHMETIC.get(node.op) or NUMPY.functions[node.op]
                value = operation(*(values[x.index] for x in node.args))
            values[node.index] = -value if node.index == flipped else value
        batch = np.zeros(len(arguments[0]))
        results = []
        for output in program.outputs:
            columns = [batch + values[entry.index] for entry in output.entries]
            stack = np.stack(columns, axis=-1) if columns else np.zeros((len(batch), 0))
            results.append(stack.reshape(len(batch), *output.shape))
        results = results[: len(function.results)]  # without what the caller does not see
        return tuple(results) if program.function in SEVERAL_RESULTS else results[0]

    return run


def with_everything(seed):
    """A random model with a prescribed joint, outputs, and a parameter in lengths and masses."""
    text = seeded_model_text(seed, SMALL)
    kind = text.split("    type: ")[1].split("\n")[0]
    text = text.replace(f"    type: {kind}\n", f"    type: {kind}\n    prescribed: true\n", 1)
    text = text.replace("mass: ", "mass: 0.2*k + ").replace("com: [", "com: [0.1*k + ")
    text = text.replace("point: [", "point: [k + ")
    return (
        text
        + """outputs:
  distance: sqrt(1 + points.points_0.x**2) * k
  work: t*kinetic_energy + loads.loads_0.fy*points.points_0.vx + points.points_0.az
"""
    )


def mutations(seed, functions=FUNCTIONS):
    """Functions of random formulations with the sign of one statement flipped: right, wrong.

    Another robot every ten times: on some a function is constant, such as loads on the base.
    """
    rng = np.random.default_rng(seed)
    able = [item for item in FORMULATIONS if set(functions) & set(PROVIDED[item.name])]
    for times in itertools.count():
        if times % 10 == 0:
            description = described(with_everything(seed + 1000 * (times // 10)))
        formulation = able[int(rng.integers(len(able)))]
        names = [name for name in PROVIDED[formulation.name] if name in functions]
        name = names[int(rng.integers(len(names)))]
        program = derived_program(description, formulation, name, RUNTIME)
        nodes = [statement.value for statement in program.statements] + list(program.results)
        nodes = [node for node in nodes if node.op is not CONST]
        if nodes:
            node = nodes[int(rng.integers(len(nodes)))]
            yield description, program, function_of(program), function_of(program, node.index)


def beside(description, program):
    """What the function is compared with where the numeric model does not have it."""
    formulation = formulation_named(program.formulation)
    return {
        name: function_of(derived_program(description, formulation, name, RUNTIME))
        for name in NEEDED.get(program.function, ())
    }


def matters(program, right, wrong):
    """Whether the flipped sign shows: that of something squared does not."""
    n = len(program.input("q").symbols)
    states = random_states(n, 1, 2, seed=1, parameters=VALUES)
    name = program.function
    pairs = [call(SimpleNamespace(**{name: x}), name, vars(states)) for x in (right, wrong)]
    return not all(np.allclose(x, y, rtol=0, atol=1e-9) for x, y in zip(*pairs, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("seed", one_in(4, range(70)))
def test_a_flipped_sign_is_found(seed):
    assert_found(mutations(seed))


@pytest.mark.parametrize("seed", one_in(4, range(100, 104)))
@pytest.mark.parametrize("function", some_slow(FUNCTIONS, {*FUNCTIONS} - {*DEAR}))
def test_a_flipped_sign_is_found_in_every_function(function, seed):
    assert_found(mutations(seed, (function,)))


def assert_found(candidates):
    """The first mutation that changes a result fails the validation, and the original passes."""
    description, program, right, wrong = next(m for m in candidates if matters(*m[1:]))
    for function, passes in ((right, True), (wrong, False)):
        others = beside(description, program)
        functions = SimpleNamespace(**others, **{program.function: function})
        subject = Subject("mutant", functions, complex_step=bool(others), arrays=False)
        assert validate(description, [subject], runtime=RUNTIME).passed == passes
