"""Proofs on models of every kind, and what is said where formulations differ."""

import json
import re
from dataclasses import replace

import pytest

from symgen.algebra.graph import Graph
from symgen.cli import run
from symgen.description import read
from symgen.errors import RequestError, ValidationError
from symgen.exact import compare, general_programs, prove
from symgen.exact.compositions import COMPOSITIONS
from symgen.exact.model import MODEL
from symgen.exact.points import random_points
from symgen.exact.relations import (
    DIRECTION,
    RELATIONS,
    RERUNS,
    SAME_STATEMENTS,
    SENSITIVITY,
    TIME,
    WEIGHT,
)
from symgen.formulations import (
    CLOSED_FORM_LAGRANGE,
    FORMULATIONS,
    NEWTON_EULER,
    derive,
    provided_functions,
)
from symgen.program.arguments import MOTION_MULTIPLIERS, PARAMETERS
from symgen.program.functions import FUNCTION_NAMES, function_named
from tests.choosing import deep, slow
from tests.exact.models import complete
from tests.exact.test_general import ODD
from tests.modules import EXAMPLES, described
from tests.oracles.random_models import EVERYTHING, OF_TREES, Recipe, seeded_model_text

TWO_LINK = str(EXAMPLES / "two_link.yaml")
FEW = ["inverse_dynamics", "mass_matrix"]


def providers(function):
    """The formulations that derive a function."""
    return [item.name for item in FORMULATIONS if function in provided_functions(item)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_link", *deep("puma560")])
def test_all_formulations_are_identical_on_the_examples(name):
    result = prove(read(EXAMPLES / f"{name}.yaml"))
    assert result.passed
    assert result.probability < 1e-60
    assert not result.left_out
    claims = {(row.function, row.claim) for row in result.rows}
    assert not any(name.startswith(("hybrid", "outputs")) for name, _ in claims)
    for function in ("inverse_dynamics_derivatives", "mass_matrix", "forward_dynamics_derivatives"):
        first, *others = providers(function)
        assert others
        for other in others:
            assert (function, f"{other} = {first}") in claims
    for base in ("inverse_dynamics", "forward_dynamics"):
        for formulation in providers(f"{base}_derivatives"):
            claim = f"{formulation} = slopes of {base} by each formulation"
            assert (f"{base}_derivatives", claim) in claims
        for formulation in providers(f"{base}_parameter_derivatives"):
            claim = f"{formulation} = slopes by parameters of {base} by each formulation"
            assert (f"{base}_parameter_derivatives", claim) in claims
    for formulation in providers("forward_dynamics"):
        claim = f"{formulation}: mass_matrix @ qdd + bias_forces = tau"
        assert ("forward_dynamics", claim) in claims


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bump_stop", *deep("wheel_on_slope")])
def test_laws_of_springs_and_tyres(name):
    """Absolute values, least values, lengths of springs along one line; a tyre."""
    result = prove(read(EXAMPLES / f"{name}.yaml"))
    assert result.passed and result.has_signs
    assert result.summary.endswith("a wrong sign with 1e-06")


@pytest.mark.deep
def test_the_recursions_are_identical_on_the_human():
    """43 coordinates: every function and derivative."""
    result = prove(read(EXAMPLES / "human43.yaml"))
    assert result.passed
    assert result.probability < 1e-60
    assert [name for name in result.left_out if "." not in name] == ["closed_form_lagrange"]
    functions = {row.function: row.entries for row in result.rows}
    assert functions["inverse_dynamics_derivatives"] == 43 + 3 * 43**2
    assert {"forward_dynamics", "forward_dynamics_parameter_derivatives"} <= set(functions)


COMPLETE = replace(EVERYTHING, joints=(2, 3), loads=(1, 2), points=(1, 1), massless=False)
QUATERNIONS = Recipe(
    joints=(1, 3), types=("ball", "free", "ball", "revolute", "prismatic"), loads=(0, 1),
    points=(0, 1), terms=True, prescribed=True,
)  # fmt: skip
SECOND = {"inverse_dynamics_hessian", "inverse_dynamics_hvp", "forward_dynamics_hvp", "regressor"}
KINDS = {
    "trees": (Recipe(joints=(1, 7)), 2, {"mass_matrix"}),
    "all joints": (replace(EVERYTHING, joints=(1, 3)), 1, {"mass_matrix"}),
    "quaternions": (QUATERNIONS, 1, SECOND),
    "complete": (COMPLETE, 1, {*OF_TREES}),
}
"""Recipes, the number of points, and functions that are proven among others."""
ALL_JOINTS = 2
SEEDS = [
    *slow(("trees", 11), ("all joints", ALL_JOINTS)),
    *deep(*(("trees", k) for k in range(1, 21) if k != 11)),
    *deep(
        *(("all joints", k) for k in range(5) if k != ALL_JOINTS),
        *(("quaternions", k) for k in (0, 2, 3)),
    ),
    *deep(*(("complete", k) for k in range(4))),
]


@pytest.mark.parametrize(("kind", "seed"), SEEDS)
def test_all_formulations_are_identical_on_random_robots(kind, seed):
    """Of the complete ones every function; every kind of number is a runtime parameter."""
    recipe, points, functions = KINDS[kind]
    text = seeded_model_text(seed, recipe)
    robot = complete(text) if kind == "complete" else described(text)
    result = prove(robot, points=points, seed=seed)
    assert result.passed and result.probability < 1e-30
    assert kind != "complete" or not result.left_out
    assert {row.function for row in result.rows} >= functions


WEIGHTLESS_HAND = """symgen: 1
name: weightless_hand
joints:
  - {name: a, type: revolute, origin: {}, link: {mass: 1, com: [0.1, 0, 0]}}
  - {name: b, type: HAND, origin: {xyz: [0.3, 0, 0]}, axis: [0, 0, 1],
     link: {mass: MASS, com: [0, 0, 0.2], inertia: {xx: 0.1}}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hand", "mass"),
    [("revolute", "2"), ("prismatic", "0")],  # its pivot comes out as 0; it is 0 by structure
)
def test_a_mass_matrix_that_is_always_singular_is_no_reason_to_give_up(hand, mass):
    text = WEIGHTLESS_HAND.replace("HAND", hand).replace("MASS", mass)
    result = prove(described(text))
    assert result.passed
    functions = {row.function for row in result.rows}
    assert "inverse_dynamics" in functions
    assert not any(name.startswith("forward_dynamics") for name in functions)
    reasons = {name: text for name, text in result.left_out.items() if "forward_dynamics" in name}
    solving = [name for name in FUNCTION_NAMES if name.startswith("forward_dynamics")]
    assert len(reasons) == sum(len(providers(name)) for name in solving)
    assert set(reasons.values()) == {"the mass matrix is singular in every state"}


@pytest.mark.deep
def test_axes_and_roots_of_parameters_are_genuine():
    """A root of parameters exists at half of all points: others are drawn until all exist."""
    result = prove(described(ODD))
    assert result.passed
    assert result.probability < 1e-50


@pytest.mark.slow
def test_many_roots_of_the_same_parameters():
    row = (
        "  - {{name: j{0}, type: revolute, origin: {{}}, axis: [p, {0}, 0.3], link: {{mass: 1}}}}\n"
    )
    joints = "".join(map(row.format, range(2, 14)))
    text = f"symgen: 1\nname: many\nparameters: {{p: 0.3}}\njoints:\n{joints}"
    recursive = [item for item in FORMULATIONS if item.name != "closed_form_lagrange"]
    assert prove(described(text), recursive, FEW).passed


@pytest.mark.slow
def test_roots_without_a_common_point_are_refused():
    """x and -x are never both squares: the field is chosen so that -1 has no root."""
    graph = Graph()
    x = graph.symbol("x")
    roots = [graph.function("sqrt", x), graph.function("sqrt", -x)]
    with pytest.raises(RequestError, match="no point"):
        random_points(roots)


def test_a_root_of_a_square_agrees_for_one_choice_of_its_sign():
    """sqrt((x + y)^2) is |x + y|; a field takes it for x + y at half of the points."""
    graph = Graph()
    x, y = graph.symbol("x"), graph.symbol("y")
    square = x * x + 2.0 * x * y + y * y
    root, total = graph.function("sqrt", square), x + y
    pairs = [
        tuple(point.values([root, total]))
        for seed in range(200)
        for point in random_points([root], seed=seed)
    ]
    agreed = sum(a == b for a, b in pairs)
    assert 70 < agreed < 130
    for seed, (a, b) in enumerate(pairs):
        (point,) = random_points([root], seed=seed)
        assert a in (b, point.field.prime - b)


def test_a_root_that_is_no_square_is_told_from_its_negative():
    """Its choices of sign are conjugate: what holds for one holds for the other."""
    graph = Graph()
    x, y = graph.symbol("x"), graph.symbol("y")
    root = graph.function("sqrt", x * x + y * y)
    for seed in range(50):
        (point,) = random_points([root], seed=seed)
        plus, minus, square, radicand = point.values([root, -root, root * root, x * x + y * y])
        assert plus != minus
        assert square == radicand


@pytest.mark.slow
def test_what_cannot_be_compared_is_said():
    result = prove(read(TWO_LINK), [NEWTON_EULER], ["inverse_dynamics", "joint_wrenches"])
    assert result.passed
    assert result.left_out["newton_euler.inverse_dynamics"] == "nothing to compare it with"
    chain = seeded_model_text(3, Recipe(joints=(24, 24), types=("revolute",), branching=False))
    result = prove(described(chain), functions=["mass_matrix"], points=1)
    assert result.passed
    assert "operations" in result.left_out["closed_form_lagrange"]


# -- where something is wrong -------------------------------------------------------------------


def with_wrong_derivative(tree, builder, state):
    """Newton-Euler derivatives, but for d tau_2 / d q_1."""
    program = derive(tree, NEWTON_EULER, "inverse_dynamics_derivatives")
    results = {output.name: list(output.entries) for output in program.outputs}
    results["dtau_dq"][tree.n] += tree.algebra.constant(1e-30)
    return results


@pytest.mark.slow
def test_a_difference_names_entry_and_formulation():
    """An error of 1e-30 is an error."""
    changed = {"inverse_dynamics_derivatives": with_wrong_derivative}
    wrong = replace(NEWTON_EULER, functions={**NEWTON_EULER.functions, **changed})
    formulations = [wrong, *(item for item in FORMULATIONS if item is not NEWTON_EULER)]
    result = prove(read(TWO_LINK), formulations)
    assert not result.passed
    assert {row.function for row in result.failures} == {"inverse_dynamics_derivatives"}
    assert all(row.claim.startswith("newton_euler") for row in result.failures)
    for row in result.failures:
        assert row.difference.output == "dtau_dq"
        assert row.difference.index == (1, 0)
        assert row.difference.count == 1
        assert "dtau_dq[1, 0] differs" in str(row)
    with pytest.raises(ValidationError, match=r"dtau_dq\[1, 0\]"):
        result.raise_if_failed()


def doubled(program, count=None):
    """The program with the first `count` entries of its result twice as large; all by default."""
    (output,) = program.outputs
    entries = list(output.entries)
    entries[:count] = [entry * 2.0 for entry in entries[:count]]
    return replace(program, outputs=(replace(output, entries=tuple(entries)),))


def test_the_one_that_stands_alone_is_at_fault():
    """Of three, two agree: the third is the one whose claims fail."""
    programs, _ = general_programs(read(TWO_LINK), functions=["mass_matrix", "gravity_forces"])
    for key, program in programs.items():
        if key[0] == MODEL:
            continue
        rows, _ = compare({**programs, key: doubled(program, 1)})
        failures = [row for row in rows if not row.holds]
        assert {row.claim.split(" = ")[0] for row in failures} == {key[0]}
        assert {row.function for row in failures} == {key[1]}


def test_a_wrong_law_for_all_formulations_is_found():
    """Formulations that agree with each other in something wrong still fail the relations."""
    programs, _ = general_programs(read(TWO_LINK), functions=["inverse_dynamics", "mass_matrix"])
    wrong = {key: doubled(x) if key[1] == "mass_matrix" else x for key, x in programs.items()}
    rows, _ = compare(wrong)
    pairs = len(providers("mass_matrix")) * len(providers("inverse_dynamics"))
    assert [row.holds for row in rows if " = slopes" in row.claim] == [False] * pairs
    assert all(row.holds for row in rows if " = slopes" not in row.claim)


def test_every_relation_is_about_functions_and_results_that_exist():
    sources = {item.name: (*item.sources, "outputs")[0] for item in COMPOSITIONS}
    composed = {item.name: [item.shape] for item in COMPOSITIONS}

    def shapes(name):
        if name in composed:
            return composed[name]
        spec = function_named(name)
        return [item.shape for item in (*spec.results, *spec.hidden)]

    for relation in RELATIONS:
        base = function_named(sources.get(relation.base, relation.base))
        shape = shapes(relation.base)[relation.base_result]
        asked = (MOTION_MULTIPLIERS, PARAMETERS)  # where the model mentions them
        inputs = {item.name: item for item in (*base.arguments, *base.options, *asked)}
        if relation.by and relation.by not in (TIME, DIRECTION):
            by = PARAMETERS.name if relation.by == SENSITIVITY else relation.by
            shape = (*shape, *(("n",) if by == "q" else inputs[by].shape))  # in its tangent space
        assert shapes(relation.function)[relation.result] == shape
        assert set(relation.at_zero) <= set(inputs)
    for group in SAME_STATEMENTS:
        assert set(group) <= set(FUNCTION_NAMES)
    for rerun in RERUNS:
        base = function_named(rerun.base)
        inputs = {item.name for item in (*base.arguments, *base.options)}
        assert set(rerun.at_zero) <= {*inputs, WEIGHT}
        assert rerun.function in FUNCTION_NAMES


# -- the command --------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_prints_what_is_proven(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert run(["check", TWO_LINK, "--exact"]) == 0
    short = capfd.readouterr().out
    assert "closed_form_lagrange = newton_euler" not in short
    assert re.search(r"^mass_matrix +13 +52 proven$", short, re.MULTILINE)
    chosen = ["--functions", "kinetic_energy,inverse_dynamics,inverse_dynamics_derivatives"]
    assert run(["check", TWO_LINK, "--exact", "--verbose", *chosen]) == 0
    text = capfd.readouterr().out
    for words in ("inverse_dynamics_derivatives", "closed_form_lagrange = newton_euler", "proven",
                  "2 random points", "probability below"):  # fmt: skip
        assert words in text
    assert not list(tmp_path.iterdir())


def test_the_command_as_json(capfd):
    names = f"{NEWTON_EULER.name},{CLOSED_FORM_LAGRANGE.name}"
    options = ["--json", "--points", "3", "--functions", "mass_matrix", "--formulations", names]
    assert run(["check", TWO_LINK, "--exact", *options]) == 0
    report = json.loads(capfd.readouterr().out)
    assert report["passed"] is True
    assert report["points"] == 3
    assert report["probability"] < 1e-100
    (row,) = report["identities"]
    assert (row["function"], row["claim"]) == ("mass_matrix", "closed_form_lagrange = newton_euler")


def test_differences_end_with_status_3(capfd, monkeypatch):
    """The closed form with gravity the other way round."""
    from symgen.pipeline import checking

    def gravity_reversed(tree, builder, state):
        return CLOSED_FORM_LAGRANGE.functions["gravity_forces"](
            replace(tree, gravity=-tree.gravity), builder, state
        )

    functions = {**CLOSED_FORM_LAGRANGE.functions, "gravity_forces": gravity_reversed}
    wrong = replace(CLOSED_FORM_LAGRANGE, functions=functions)
    monkeypatch.setattr(checking, "formulations_named", lambda names: (NEWTON_EULER, wrong))
    options = ["--exact", "--functions", "gravity_forces"]
    assert run(["check", TWO_LINK, *options]) == 3
    captured = capfd.readouterr()
    assert "DIFFERS" in captured.out
    assert "gravity_forces[0] differs, and 1 more" in captured.out
    assert "step 'gravity' of shoulder: G_1 [LG-9]" in captured.out
    assert "1 of 1 identities do NOT hold" in captured.err
    assert run(["check", TWO_LINK, "--json", *options]) == 3
    (row,) = json.loads(capfd.readouterr().out)["identities"]
    assert row["holds"] is False
    assert row["difference"]["index"] == [0]
    assert {place["joint"] for place in row["difference"]["locations"]} == {"shoulder"}


@pytest.mark.parametrize(("options", "words"), [
    (["--points", "2"], "--exact"),
    (["--exact", "--samples", "2"], "--points"),
    (["--exact", "--functions", "mass_matrx"], "did you mean 'mass_matrix'"),
    (["--exact", "--formulations", "newton"], "newton_euler"),
    (["--exact", "--points", "0"], "0"),
])  # fmt: skip
def test_mistakes_are_the_users(capfd, options, words):
    assert run(["check", TWO_LINK, *options]) == 2
    assert words in capfd.readouterr().err


ROOT_OF_TWO = """symgen: 1
name: diagonal
parameters: {c: 1/sqrt(2)}
joints:
  - {name: a, type: revolute, origin: {}, axis: [c, c, 0],
     link: {mass: 1, com: [0.1, 0.2, 0.3], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}}
"""


@pytest.mark.slow
def test_a_root_that_not_every_field_has_is_looked_for_in_others():
    """sqrt(2 c^2) exists where 2 is a square, whatever c is."""
    for seed in range(4):
        result = prove(described(ROOT_OF_TWO), functions=FEW, seed=seed)
        assert result.passed and result.rows
    unproven = replace(result, degree=2**126)  # a bound that says nothing
    assert not unproven.failures and not unproven.passed
    assert "proves NOTHING" in unproven.summary


def test_a_robot_that_does_not_move_has_nothing_to_compose():
    result = prove(described("symgen: 1\nname: empty\njoints: []\n"))
    assert result.passed
