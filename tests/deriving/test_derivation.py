"""What a build selects, derives and says about itself."""

import gc
from pathlib import Path

import numpy as np
import pytest
import sympy

from benchmarks.models import HUMAN43, spatial_tree
from symgen import derive, read
from symgen.algebra.nodes import Scalar
from symgen.deriving.derivation import cost, derive_all, derived_program
from symgen.deriving.digest import model_hash
from symgen.deriving.packaging import package_of
from symgen.deriving.selection import select
from symgen.errors import RequestError
from symgen.formulations import FORMULATIONS, formulation_named, provided_functions
from symgen.optimize.operations import operations_after
from symgen.options import ONE_IN_LOOPS, BuildOptions, names
from symgen.program.functions import FUNCTION_NAMES, function_named
from symgen.program.products import PRODUCTS
from symgen.runtime.joint_terms import LOSS_DEFAULTS
from symgen.validation.oracles import NumericRobot
from tests.modules import EXAMPLES, described

ALL = tuple(formulation.name for formulation in FORMULATIONS if formulation.by_default)


def test_programs_are_freed_with_their_last_reference():
    """Without the garbage collector, which hardly ever looks at what a build left behind."""

    def scalars():
        return sum(type(x) is Scalar for x in gc.get_objects())

    robot, formulation = read(EXAMPLES / "two_link.yaml"), formulation_named("newton_euler")
    gc.collect()
    gc.disable()
    try:
        before = scalars()
        program = derived_program(robot, formulation, "inverse_dynamics")
        assert scalars() > before + 50
        del program
        assert scalars() < before + 10
    finally:
        gc.enable()


def test_defaults():
    small = select(read(EXAMPLES / "two_link.yaml"), BuildOptions())
    assert small.formulations == ALL
    usual = [name for name in FUNCTION_NAMES if not function_named(name).on_request]
    assert small.functions == tuple(name for name in usual if name not in small.inapplicable)
    large = select(read(EXAMPLES / "puma560.yaml"), BuildOptions())
    assert large.formulations == ("composite", "newton_euler")
    for name in ALL:  # what is not compiled is derived all the same
        derived = set(large.functions_of(name))
        assert derived == set(provided_functions(formulation_named(name))) & set(large.functions)


def test_products_are_built_on_request_beside_the_usual_functions():
    description = read(EXAMPLES / "two_link.yaml")
    usual = select(description, BuildOptions()).functions
    more = select(description, BuildOptions(functions=("default", "inverse_dynamics_vjp")))
    assert set(more.functions) - set(usual) == {"inverse_dynamics_vjp"}
    everything = select(description, BuildOptions(functions=("all",))).functions
    assert set(everything) - set(usual) == set(PRODUCTS)


def test_what_is_too_large_is_said():
    human = described(spatial_tree(HUMAN43, "tree43"))
    selection = select(human, BuildOptions())
    assert "closed form would have about" in selection.skipped["closed_form_lagrange"]
    with pytest.raises(RequestError, match="use a recursive formulation"):
        select(human, BuildOptions(formulations=("closed_form_lagrange",)))


@pytest.mark.slow
def test_long_straight_lines_of_one_sample_are_loops():
    """Of derivatives of the torques sooner than of what is done joint by joint."""
    forms = {}
    for name in ("puma560", "arm7"):
        description = read(EXAMPLES / f"{name}.yaml")
        options = BuildOptions(
            formulations=("composite",), functions=("inverse_dynamics_derivatives", "regressor")
        )
        for report in derive_all(description, select(description, options)).reports:
            forms[name, report.function] = report.form
    assert forms["arm7", "inverse_dynamics_derivatives"] == ONE_IN_LOOPS
    assert forms["puma560", "inverse_dynamics_derivatives"] == "straight"
    assert forms["arm7", "regressor"] == "straight"


def test_names_are_checked():
    assert names(" a, b,a") == ("a", "b")
    for wrong in ("", "a,,b", []):
        with pytest.raises(RequestError):
            names(wrong)
    for wrong in ({"backend": "fortran"}, {"flags": "fast"}, {"templates": Path("nowhere")}):
        with pytest.raises(RequestError):
            BuildOptions(**wrong)


@pytest.mark.slow
def test_the_cheapest_formulation_serves_the_top_level():
    description = read(EXAMPLES / "two_link.yaml")
    selection = select(description, BuildOptions())
    derived = derive_all(description, selection)
    package = package_of(description, derived)
    cost = {(report.formulation, report.function): report.after.total for report in derived.reports}
    for function, formulation in package.fastest.items():
        others = [cost[name, function] for name in ALL if (name, function) in cost]
        assert cost[formulation, function] <= 1.2 * min(others)


def test_what_is_built_is_reported_and_what_is_evaluated_is_derived():
    description = read(EXAMPLES / "puma560.yaml")
    asked = BuildOptions(functions=("gravity_forces", "mass_matrix"))
    derived = derive_all(description, select(description, asked))
    reported = {(report.formulation, report.function) for report in derived.reports}
    selection = derived.selection
    assert reported == {(name, f) for name, functions in selection.built.items() for f in functions}
    for name, functions in selection.evaluated.items():
        assert set(functions) == set(derived.evaluated[name])


def test_of_rivals_the_one_with_the_fewest_operations_is_built():
    description = read(EXAMPLES / "puma560.yaml")
    names = ("gravity_forces", "mass_matrix", "inverse_dynamics_load_derivatives")
    derived = derive_all(description, select(description, BuildOptions(functions=names)))
    for function in names:
        (serving,) = (report for report in derived.reports if report.function == function)
        others = [x[function] for x in derived.evaluated.values() if function in x]
        assert others
        assert cost(serving.after) <= min(cost(operations_after(x.results)) for x in others)
    assert derived.built["recursive_lagrange"].keys() == {"gravity_forces"}


def test_the_module_knows_the_tree():
    description = read(EXAMPLES / "tree12.yaml")
    selection = select(description, BuildOptions(functions=("potential_energy",)))
    said = package_of(description, derive_all(description, selection)).metadata
    assert said.joint_parents == (0, 1, 2, 3, 4, 5, 6, 6, 3, 9, 10, 3)
    facts = {name: fact.value for name, fact in said.facts.items()}
    assert facts["branches"] == ((1, 2, 3), (4, 5, 6), (7,), (8,), (9, 10, 11), (12,))
    assert facts["branch_parents"] == (0, 1, 2, 2, 1, 1)
    assert facts["joint_branches"] == ((1, 3), (4, 6), (7, 7), (8, 8), (9, 11), (12, 12))
    assert (facts["junctions"], facts["leaves"]) == ((3, 6), (7, 8, 11, 12))


SATELLITE = (EXAMPLES / "satellite_arm.yaml").read_text()
CHANGES = [
    ("two_link", "m2: {value: 0.5", "m2: {value: 0.6"),
    ("two_link", "0.4, unit: m", "0.4, unit: cm"),
    *(("satellite_arm", old, new) for old, new in (
        ("sequence: xyz", "sequence: zyx"), ("axes: [x, y]", "axes: [y, x]"),
        ("rotor_inertia: I_motor", "rotor_inertia: 2*I_motor"),
        ("gear_ratio: gear", "gear_ratio: 50"), ("friction: 0.6", "friction: 0.5"),
        ("damping: [0.8, 0.8, 0.5]", "damping: [0.8, 0.7, 0.5]"),
        ("friction_velocity: 0.02", "friction_velocity: 0.03"),
        ("stiffness: [220, 180]", "stiffness: [220, 181]"),
        ("stiffness: [220, 180]", "stiffness: [220, 180]\n    rest: 0.1"),
        ("lower: [-pi, -80*deg, -pi]", "lower: [-pi, -81*deg, -pi]"),
    )),
]  # fmt: skip


def test_the_hash_is_of_what_the_model_says():
    text = (EXAMPLES / "two_link.yaml").read_text()
    assert model_hash(described(f"# a remark\n{text}")) == model_hash(described(text))
    listed = SATELLITE.replace("damping: 0.4", "damping: [0.4, 0.4]")
    assert listed != SATELLITE
    assert model_hash(described(listed)) == model_hash(described(SATELLITE))


def test_named_masses_of_value_zero_stay_in_the_equations():
    text = """
symgen: 1
name: tool
parameters: {m: 1, m_tool: 0}
joints:
  - {name: a, type: revolute, origin: {}, link: {mass: m, com: [1, 0, 0]}}
  - {name: tool, type: fixed, origin: {}, link: {mass: m_tool, com: [2, 0, 0]}}
"""
    M = derive(described(text), "newton_euler").mass_matrix[0]
    m, tool = (sympy.Symbol(name, real=True) for name in ("m", "m_tool"))
    assert sympy.simplify(M - (m + 4 * tool)) == 0


@pytest.mark.parametrize(("name", "old", "new"), CHANGES)
def test_the_hash_knows_terms_limits_and_sequences(name, old, new):
    text = (EXAMPLES / f"{name}.yaml").read_text()
    assert old in text
    changed = model_hash(described(text.replace(old, new, 1)))
    assert changed != model_hash(read(EXAMPLES / f"{name}.yaml"))


def test_metadata_has_one_entry_per_coordinate():
    description = read(EXAMPLES / "satellite_arm.yaml")
    options = BuildOptions(functions=("gravity_forces",), formulations=("newton_euler",))
    selection = select(description, options)
    metadata = package_of(description, derive_all(description, selection)).metadata
    bus = tuple(f"bus_{i}" for i in range(1, 7))
    arm = ("shoulder_1", "shoulder_2", "shoulder_3", "elbow", "wrist")
    assert metadata.coordinate_names == (*bus, *arm, "boom_1", "boom_2")
    assert metadata.n == 13
    assert metadata.link_names == ("bus", "upper_arm", "forearm", "gripper", "antenna")
    assert len(metadata.limits) == 13
    assert [x.effort for x in metadata.limits] == [None] * 6 + [60.0] * 3 + [None] * 4
    assert metadata.limits[7].lower == pytest.approx(-1.3962634)
    joint_terms = metadata.facts["joint_terms"].value
    assert joint_terms == {
        "reflected_inertia": pytest.approx([*[0.0] * 6, *[0.6] * 5, 0.0, 0.0]),
        "damping": [*[0.0] * 6, 0.8, 0.8, 0.5, 0.5, 0.2, 0.4, 0.4],
        "stiffness": [*[0.0] * 11, 220.0, 180.0],
        "rest": [0.0] * 13,
        "friction": [*[0.0] * 6, 0.6, 0.6, 0.6, 0.4, 0.0, 0.0, 0.0],
        "friction_velocity": [*[1e-3] * 6, *[0.02] * 4, *[1e-3] * 3],
    }
    oracle = NumericRobot(description).joint_terms
    assert not oracle.pop("added_mass").any()
    assert set(joint_terms) == set(oracle) - {*LOSS_DEFAULTS, "stribeck_velocity"}
    assert {key: pytest.approx(oracle[key].tolist()) for key in joint_terms} == joint_terms


def test_the_module_carries_inertial_parameters():
    """As numbers, with what is fixed to a body merged into it, whatever is selected."""
    description = described(
        "symgen: 1\nname: two\nparameters: {m: 0.1}\njoints:\n"
        "  - {name: a, type: revolute, origin: {}, link: {mass: m, com: [-1, 0, 0]}}\n"
        "  - {name: b, type: fixed, origin: {xyz: [0, 2, 0]}, link: {mass: 3*m}}\n"
    )
    selection = select(description, BuildOptions(functions=("mass_matrix",)))
    package = package_of(description, derive_all(description, selection))
    found = np.array(package.metadata.facts["inertial_parameters"].value)
    assert found == pytest.approx(np.array([0.4, -0.1, 0.6, 0, 1.2, 0, 0.1, 0, 0, 1.3]), abs=1e-12)
    assert not np.signbit(found[found == 0.0]).any()


def test_inertial_parameters_beyond_float64_are_refused_in_words():
    description = described(
        "symgen: 1\nname: far\njoints:\n"
        "  - {name: a, type: prismatic, origin: {}, link: {mass: 1e200, com: [1e100, 0, 0]}}\n"
    )
    selection = select(description, BuildOptions(functions=("forward_kinematics",)))
    with pytest.raises(RequestError, match="leave the range of float64 in inertial_parameters"):
        package_of(description, derive_all(description, selection))


def test_a_wheel_that_always_lies_flat_is_named():
    tyre = (
        "{name: t, type: tyre, wheel: a, radius: 0.5, width: 0.2, normal: {stiffness: [9]}, "
        "slip: {longitudinal: 9, lateral: 9, friction: [1, 1]}}"
    )
    joint = "{name: a, type: revolute, origin: {}}"
    text = f"symgen: 1\nname: flat\njoints: [{joint}]\nforces: [{tyre}]"
    description = described(text)
    options = BuildOptions(functions=("inverse_dynamics",), formulations=("newton_euler",))
    with pytest.raises(RequestError, match=r"Is the axis of a wheel always vertical \(t\)\?"):
        derive_all(description, select(description, options))
