"""What is built, evaluated and left out, with the reason."""

import pytest

from benchmarks.models import HUMAN43, spatial_tree
from symgen import read
from symgen.deriving.derivation import derive_all, derive_built
from symgen.deriving.packaging import package_of
from symgen.deriving.selection import (
    LARGEST_BUILT,
    LARGEST_ROBOT,
    MANY_COORDINATES,
    notices_of_size,
    select,
)
from symgen.errors import RequestError
from symgen.formulations import formulation_named
from symgen.options import ALL, BuildOptions
from symgen.program.functions import FUNCTION_NAMES
from symgen.program.products import NEEDED
from symgen.validation.validate import INDEPENDENT
from tests.choosing import some_slow
from tests.modules import EXAMPLES, described
from tests.oracles.random_models import OF_TREES

TWO_LINK = EXAMPLES / "two_link.yaml"


def chain(joints):
    return described(spatial_tree(range(joints), "chain"))


def test_a_formulation_without_any_of_the_functions_is_left_out():
    selection = select(read(TWO_LINK), BuildOptions(functions=("joint_wrenches", "point_motion")))
    assert selection.functions == ("joint_wrenches", "point_motion")
    assert selection.formulations == ("composite", "newton_euler", "recursive_lagrange")
    assert selection.functions_of("recursive_lagrange") == ("point_motion",)
    others = ("kane", "closed_form_lagrange", "explicit_kane", "partially_recursive_kane")
    assert selection.skipped == dict.fromkeys(others, "derives none of these functions")


def everything():
    """The two-link arm with a prescribed joint and an output."""
    text = TWO_LINK.read_text().replace("- name: elbow", "- name: elbow\n    prescribed: true")
    return described(f"{text}\noutputs:\n  reach: points.hand.x*L1\n")


@pytest.mark.parametrize("function", some_slow(FUNCTION_NAMES, FUNCTION_NAMES[::6]))
def test_every_function_can_be_built_alone(function):
    description = everything()
    if function not in OF_TREES:
        description = described(
            f"{TWO_LINK.read_text()}\nloops:\n"
            "  - {name: pin, type: spherical, first: {link: base}, second: {link: forearm}}\n"
            "outputs: {pull: multipliers.pin_x}\n"
        )
    options = BuildOptions(functions=(function,), runtime_parameters=(ALL,))
    selection = select(description, options)
    package = package_of(description, derive_all(description, selection))
    assert package.fastest[function] in package.programs
    built = {function, *NEEDED.get(function, ())}
    if function == "constraints":
        built.add("forward_kinematics")  # loops are judged by poses
    assert all(built.issuperset(programs) for programs in package.programs.values())


def test_a_function_that_no_chosen_formulation_derives_is_refused():
    options = BuildOptions(formulations=("closed_form_lagrange",), functions=("regressor",))
    with pytest.raises(RequestError, match="cannot derive regressor; add --formulations composite"):
        select(read(TWO_LINK), options)


def test_functions_that_are_too_large_are_left_out_of_the_closed_form():
    robot, large = chain(14), "inverse_dynamics_derivatives"
    selection = select(robot, BuildOptions(formulations=(ALL,)))
    assert selection.skipped["closed_form_lagrange"] == f"too large to build: {large}"
    assert "inverse_dynamics" in selection.functions_of("closed_form_lagrange")
    assert large in selection.functions_of("newton_euler")
    with pytest.raises(RequestError, match="closed_form_lagrange: too large to build"):
        select(robot, BuildOptions(formulations=("closed_form_lagrange",), functions=(large,)))


def test_small_functions_of_what_is_not_chosen_are_evaluated():
    options = BuildOptions(functions=("inverse_dynamics", "inverse_dynamics_derivatives"))
    selection = select(chain(8), options)
    assert selection.formulations == ("composite",)
    assert selection.functions_of("closed_form_lagrange") == ("inverse_dynamics",)
    words = "too large to evaluate: inverse_dynamics_derivatives"
    assert words in selection.skipped["closed_form_lagrange"]
    assert LARGEST_BUILT > 100_000


def test_one_formulation_evaluates_what_has_many_results():
    human = described(spatial_tree(HUMAN43, "tree43"))
    build = select(human, BuildOptions())
    by_one = dict.fromkeys(("mass_matrix", "coriolis_matrix"), "newton_euler")
    delegated = build.delegated["recursive_lagrange"]
    assert {name: delegated[name] for name in by_one} == by_one
    assert "not selected, and left to newton_euler" in build.skipped["recursive_lagrange"]
    check = select(human, BuildOptions(thorough=True))
    assert not check.delegated
    for name, delegated in build.delegated.items():
        assert {*build.evaluated.get(name, ()), *delegated} == set(check.evaluated[name])
        for function, serving in delegated.items():
            assert function in build.evaluated[serving]


def test_the_numeric_model_alone_checks_what_would_take_many_operations():
    build = select(chain(60), BuildOptions())
    assert "inverse_dynamics_derivatives" not in build.evaluated["newton_euler"]
    assert "too large to evaluate: inverse_dynamics_derivatives" in build.skipped["newton_euler"]


@pytest.mark.slow
def test_loops_are_built_at_any_size():
    tree = chain(90)
    function = "forward_dynamics_derivatives"
    loops = select(tree, BuildOptions(functions=(function,)))
    assert loops.built == {"composite": (function,)}
    for options in ({"form": "straight"}, {"backend": "cython"}):
        with pytest.raises(RequestError, match="too large to build"):
            select(tree, BuildOptions(functions=(function,), **options))


def test_no_function_loses_its_last_formulation_but_to_the_numeric_model():
    human = described(spatial_tree(HUMAN43, "tree43"))
    build, check = (select(human, x) for x in (BuildOptions(), BuildOptions(thorough=True)))
    functions = [
        {
            function
            for name, found in selection.evaluated.items()
            for function in found
            if formulation_named(name).by_default
        }
        for selection in (build, check)
    ]
    left = {
        name for found in build.delegated.values() for name in found if found[name] == INDEPENDENT
    }
    assert functions[0] | left == functions[1]
    assert not select(chain(22), BuildOptions()).delegated


def test_the_default_is_the_fastest_formulation_of_each_function():
    selection = select(chain(8), BuildOptions())
    assert selection.formulations == ("composite", "newton_euler")
    assert "forward_dynamics" not in selection.built["newton_euler"]
    assert "kinetic_energy" in selection.built["newton_euler"]
    assert "forward_dynamics_derivatives" in selection.built["composite"]
    assert "forward_dynamics" in selection.evaluated["newton_euler"]


@pytest.mark.slow
def test_articulated_bodies_serve_where_elimination_would_cost_more():
    robot, function = chain(16), ("forward_dynamics",)
    selection = select(robot, BuildOptions(functions=function))
    assert derive_built(robot, selection).selection.built == {"kane": function}


def test_wrenches_of_large_robots_are_derived_where_there_are_loops():
    for joints, formulation in ((6, "newton_euler"), (16, "composite")):
        selection = select(chain(joints), BuildOptions())
        assert "joint_wrench_derivatives" in selection.built[formulation]
    human = select(read(TWO_LINK.with_name("human43.yaml")), BuildOptions())
    assert "joint_wrench_derivatives" in human.built["composite"]


def test_functions_that_mean_nothing_are_not_built_and_say_what_they_need():
    selection = select(read(TWO_LINK), BuildOptions())
    assert not {"outputs", "hybrid_dynamics"} & set(selection.functions)
    for function, words in (
        ("outputs", "the model has no outputs"),
        ("hybrid_dynamics_derivatives", "no joint of the model is prescribed"),
        ("forward_dynamics_sensitivities", "--runtime-parameters all"),
    ):
        assert words in selection.inapplicable[function]
        with pytest.raises(RequestError, match=words):
            select(read(TWO_LINK), BuildOptions(functions=(function,)))


def test_runtime_parameters_are_independent_ones_in_the_order_of_the_file():
    arm = read(TWO_LINK)
    assert select(arm, BuildOptions()).runtime_parameters == ()
    asked = BuildOptions(runtime_parameters=("m1", "L1"))
    assert select(arm, asked).runtime_parameters == ("L1", "m1")
    every = select(arm, BuildOptions(runtime_parameters=(ALL,))).runtime_parameters
    assert every == ("L1", "L2", "l1", "m1", "m2", "I1", "I2", "g")
    with pytest.raises(RequestError, match=r"two_link.yaml:\d+: the parameter 'l2' is derived"):
        select(arm, BuildOptions(runtime_parameters=("l2",)))
    with pytest.raises(RequestError, match="no parameter is called 'M1'; did you mean 'm1'"):
        select(arm, BuildOptions(runtime_parameters=("M1",)))


@pytest.mark.slow
def test_what_nobody_would_wait_for_is_refused_before_it_is_begun():
    with pytest.raises(RequestError, match="401 moving axes; code is generated for up to 400"):
        select(chain(LARGEST_ROBOT + 1), BuildOptions())


def test_a_build_that_takes_minutes_says_so():
    assert notices_of_size(read(TWO_LINK)) == ()
    (words,) = notices_of_size(chain(MANY_COORDINATES))
    assert words.startswith("80 coordinates: a build of everything takes minutes")


def test_formulations_beside_the_default_ones_are_built_whole():
    for joints in (2, 8):
        description = chain(joints)
        usual = select(description, BuildOptions())
        both = select(description, BuildOptions(formulations=("default", "semi_recursive")))
        kane = select(description, BuildOptions(formulations=("default", "kane"))).built
        whole = select(description, BuildOptions(formulations=("kane",))).built
        assert kane["kane"] == whole["kane"] and kane["composite"] == both.built["composite"]
        others = {name: both.built[name] for name in usual.built if name != "semi_recursive"}
        assert others == {n: x for n, x in usual.built.items() if n != "semi_recursive"}
        alone = select(description, BuildOptions(formulations=("semi_recursive",)))
        assert set(alone.functions) <= set(both.built["semi_recursive"])
    with pytest.raises(RequestError, match="no formulation is called 'semi'"):
        select(description, BuildOptions(formulations=("default", "semi")))
