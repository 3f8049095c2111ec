"""Kane's equations with M formed: the parts of the derivatives, as printed."""

import re

from symgen.algebra.graph import Graph
from symgen.formulations import derive
from symgen.formulations.explicit_kane import PARTIALLY_RECURSIVE_KANE
from symgen.kinematics.tree import build_tree
from tests.oracles.implicit import Implicit
from tests.oracles.lines import slopes_of, values_of
from tests.oracles.parameter_kinds import every_kind


def test_the_parts_of_appendix_a_add_up():
    """(80) to (83): the three parts are d R_2i^k; (90) to (92): the two are d F_2^k."""
    description, _ = every_kind()
    oracle = Implicit(description, 1)
    tree = build_tree(description, Graph())
    program = derive(tree, PARTIALLY_RECURSIVE_KANE, "forward_dynamics_derivatives")
    given = oracle.torques, description.parameter_values
    values, added = values_of(program, *given), 0
    for name, slopes in slopes_of(program, *given, "q").items():
        match = re.fullmatch(r"(R2_\d+|F2)_(\d+)_([nf]_[xyz])", name)
        for i, expected in enumerate(slopes if match else (), start=1):
            letters = ("FQ", "FRQ") if match[1] == "F2" else ("RI", "RQ", "RRQ")
            column = match[1][2:]
            parts = [f"{letter}{column}_{match[2]}_{match[3]}_dq_{i}" for letter in letters]
            found = sum(values.get(part, 0.0) for part in parts)
            assert abs(found - expected) <= 1e-10 * max(1.0, abs(expected)), (name, i)
            added += any(part in values for part in parts)
    assert added > 20
