"""Joints on manifolds: the equations of a chain, at displacement 0, in the tangent space.

A formulation derives as if a ball were three revolute joints, and a free joint three prismatic ones
and a ball.  Here that chain stands behind the pose (R, p) that the quaternion gives, and its
displacements e are 0, so that every sine of them is gone and what lies between its links costs
nothing.  It remains to express all results in the velocities w of the joint, those of the
link's frame in its own axes.  With S_j the columns of its motion subspace (constant in the link)
and [a, b] the Lie bracket of twists,

    w = W(e) e',    W_j(e) = exp(-S_k e_k) ... exp(-S_j+1 e_j+1) S_j,    W(0) = 1,
    D_k = dW/de_k:  column j is -[S_k, S_j] for k > j, else 0,

and so the accelerations of the chain are e'' = w' - N(w) with N = sum_k w_k D_k w, its torques
W^T tau.  Torques, wrenches, motions are those of the chain at w and w' - N.  Derivatives by a
configuration are those in the tangent space: with w, w' and tau held,

    de'/de_k = -D_k w,   de''/de_k = -D_k e'' - N_k,   d(W^T tau)/de_k = D_k^T tau,

where N_k = dN/de_k with w held.  A joint is moved by its own velocity, which is why the Christoffel
matrix of the chain, less M D(w), is the one whose C w are the velocity-product torques and with
which dM/dt - 2 C is skew-symmetric (the same as Featherstone's sum of J^T (I J' + B J)).

Torques of drives and bearings of such a joint follow its velocities, not the chain: they are
added here, to what the bodies alone do.  Where accelerations are sought, its rotors stand in the
chain's equations; the torque that the chain is given is

    W^T (tau - I N - damping, friction) - (W^T I W - I) e''.

Added mass is another thing: m (v' + w x v) at the origin of the link, which is m e'' of the columns
that slide.  Equal rotors of these are that mass in the chain, which is given them as part of it.

The chain of accelerations by parameters has these terms itself: with e' = w and e = 0 they are
those of its own joints but for I N, a spring of stiffness I at rest at -N.

Bullo, Murray 1999 ("Tracking for fully actuated mechanical systems") have the geometry; the columns
of S are those of Featherstone 2008, table 4.1.

=========  ====================  ==================================================================
symbol     code                  meaning
=========  ====================  ==================================================================
R, p       R_<joint>, p_<joint>  pose that the entries of q give
N          N_<coordinate>        what w leaves of the chain's accelerations at w' = 0
e''        qdd_<coordinate>      accelerations of the chain
=========  ====================  ==================================================================
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from symgen.algebra.interface import S
from symgen.formulations.joint_terms import reflected_inertia
from symgen.formulations.manifolds import hessian, solving, torques
from symgen.formulations.manifolds.chain import Chain, Write, floating_bases
from symgen.formulations.manifolds.tangent import tangent
from symgen.formulations.rolled import Floating, Start
from symgen.formulations.state import State
from symgen.kinematics.joint import LOSSES
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.derivatives import DERIVATIVES

NOTES = {
    "MF-1": "R and p of the unit quaternion and the position of a joint",
    "MF-2": "N = sum_k w_k D_k w: velocity products of the joint's own columns",
    "MF-3": "e'' = w' - N: accelerations of the chain",
    "MF-4": "in the tangent space: the chain's, by its coordinates, velocities and accelerations",
    "MF-5": "C - M D(w): of the joint's velocities",
    "MF-6": "what drives and bearings of the joint add to its torques",
    "MF-7": "the chain's second derivatives in the tangent space, symmetric along the exponential",
    "MF-9": "k x and its derivatives: spring of a joint, x the way from its rest, as MuJoCo has it",
    "MF-8": "a floating base: of all forces, gravity and loads alone turn relative to it",
}

FUNCTIONS = {
    **torques.FUNCTIONS,
    **solving.FUNCTIONS,
    "inverse_dynamics_hessian": hessian.inverse_dynamics_hessian,
}
"""The functions that are derived for trees with joints on manifolds."""

OF_HELD_MOTION = {name for name, x in DERIVATIVES.items() if x.holds_motion and x.of in FUNCTIONS}
"""Derivatives of these at a held motion, which are differentiated with all that is written here."""

NEEDS: Mapping[str, tuple[str, ...]] = {
    "bias_forces": ("inverse_dynamics",),
    "coriolis_matrix": ("mass_matrix",),
    "constraint_rate_derivatives": (torques.JACOBIAN,),
    "constraint_acceleration_derivatives": (torques.JACOBIAN,),
    "inverse_dynamics_hessian": (hessian.FIRST,),
    "forward_dynamics_sensitivities": (
        "forward_dynamics_derivatives",
        "forward_dynamics_parameter_derivatives",
    ),
}
"""Functions of the chain that a function needs, too."""


def are_derived(functions: Collection[str], tree: KinematicTree[S]) -> set[str]:
    """Return which functions of the chain exist for trees with joints on manifolds."""
    return {
        name
        for name in functions
        if (name in FUNCTIONS or name in OF_HELD_MOTION)
        and all(needed in functions for needed in NEEDS.get(name, ()))
        and not lacking(name, tree)
    }


def lacking(function: str, tree: KinematicTree[S]) -> str:
    """Name what a function does not know of joints on manifolds; "" for nothing.

    The energy of the chain's rotors and its slopes equal those of the joint's at e = 0 alone.
    """
    if function == "outputs_derivatives":
        named = any("kinetic_energy" in output.expression.names for output in tree.outputs)
        columns = [tree.joint(number) for joint in tree.manifolds for number in joint.columns]
        rotors = not all(tree.algebra.is_zero(reflected_inertia(joint)) for joint in columns)
        if named and rotors:
            return "the kinetic energy of rotors at joints"
    return ""


IN_LOOPS = ("mass_matrix", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")
"""Functions that have loops of floating bases, too."""


def has_rolled_form(tree: KinematicTree[S], function: str) -> bool:
    """Whether there are loops of a function: all joints on manifolds are floating bases to which
    drives and bearings add nothing, and there are no loads."""
    still = (tree.algebra.zero,) * len(tree.joints)
    bases = floating_bases(tree, [tangent(tree, x, still) for x in tree.manifolds], False)
    columns = [tree.joint(number) for x in tree.manifolds for number in x.columns]
    bare = all(
        tree.algebra.is_zero(x)
        for joint in columns
        for x in (getattr(joint.terms, name) for name in LOSSES)
    )
    floating = len(bases) == len(tree.manifolds)
    return function in IN_LOOPS and floating and bare and not tree.loads


def start_of_rolled(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], function: str
) -> Start[S]:
    """Return the start of a straight phase: the chain, posed."""
    chain = Chain(tree, b, state, _nothing, function)
    floating = [
        Floating(tuple(k + 1 for k in base.places), tuple(k + 1 for k in base.sliding))
        for base in chain.bases
    ]
    return Start(b, *chain.posed_state(), state, floating, chain.N if state.qd else ())


def _nothing(*_: object) -> Results[S]:
    """Loops call no functions of the chain."""
    return {}


def write(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    written: Write,
    function: str,
    twice: bool = False,
) -> Results[S]:
    """Write `function` of the joints' velocities; `written` writes one of the chain.

    `state` has nq entries in q, and n elsewhere, as the inputs that are declared.  With `twice` it
    is differentiated twice.
    """
    return FUNCTIONS[function](Chain(tree, b, state, written, function, twice))
