"""Semi-recursive dynamics: the three kinds of reference points, and when they are built.

`test_lines` has the derivatives of every line, the contract the values.
"""

from symgen import read
from symgen.algebra.graph import Graph
from symgen.deriving.selection import select
from symgen.formulations import VARIANTS, declare_inputs
from symgen.formulations.semi_recursive import SEMI_RECURSIVE
from symgen.formulations.semi_recursive.functions import equations_of
from symgen.formulations.semi_recursive.reference_points import LINK_ORIGIN, RTDYN0, RTDYN1
from symgen.kinematics.tree import build_tree
from symgen.options import BuildOptions
from symgen.program.builder import ProgramBuilder
from tests.contract.cells import described
from tests.modules import ROOT, module

TWO_LINK = ROOT / "examples" / "two_link.yaml"
THREE = (SEMI_RECURSIVE, *VARIANTS)


def test_what_the_reference_points_are_chosen_for():
    """RTdyn0: masses are block diagonal. RTdyn1: every B_i is the identity."""
    moments, arms = [], []
    for point in (LINK_ORIGIN, RTDYN0, RTDYN1):
        tree = build_tree(described("composite_joints"), Graph())
        b = ProgramBuilder(tree.algebra, taken=tree.parameter_names)
        equations = equations_of(point, tree, b, declare_inputs(tree, b, "inverse_dynamics"))
        masses = [body.M.mc for body in equations.known.bodies.values()]
        places = [at.arm for at in equations.system.geometry.values()]
        moments.append(all(x.is_zero for mc in masses for x in mc))
        arms.append(all(x.is_zero for arm in places for x in arm))
    assert (moments, arms) == ([False, True, False], [False, False, True])


def test_it_is_built_where_it_is_named():
    description = read(TWO_LINK)
    for options, expected in (
        (BuildOptions(), set()),
        (BuildOptions(thorough=True), set()),
        (BuildOptions(formulations=("all",)), {"semi_recursive"}),
        (BuildOptions(formulations=("semi_recursive_rtdyn1",)), {"semi_recursive_rtdyn1"}),
        (BuildOptions(formulations=tuple(x.name for x in THREE)), {x.name for x in THREE}),
    ):
        selection = select(description, options)
        assert {name for name in selection.built if name.startswith("semi")} == expected
        assert ("semi_recursive" in selection.evaluated) == options.thorough


def test_modules_have_the_variants_that_are_named():
    names = [item.name for item in THREE]
    robot = module(TWO_LINK, formulations=names, functions="mass_matrix")
    assert robot.formulations == tuple(names)
