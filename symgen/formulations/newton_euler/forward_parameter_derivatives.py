"""How accelerations vary with the parameters, by implicit differentiation of the torques.

As in `forward_derivatives.py` (Carpentier, Mansard 2018), with a parameter P in place of q:

    d qdd/dP = -M^-1 d tau/dP

where d tau/dP is that of the inverse dynamics at the solution qdd, which does not vary with P.
The recursion is written with symbols `qdd_f_held` for it, differentiated, and the solution is
substituted then.  Where q, qd and tau vary
with P themselves, the total derivative is

    M^-1 (d tau - d tau/dP - d tau/dq dq - d tau/dqd dqd)

d tau/dP comes from direct differentiation of the recursion: `d_(.)_dP` is the derivative of the
statement (.) with respect to the runtime parameter P.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgen.algebra.interface import S
from symgen.algebra.linear import inner
from symgen.formulations.accelerations import Solution, response, write_pivots_of
from symgen.formulations.joint_terms import with_joint_terms
from symgen.formulations.newton_euler.forward import solved
from symgen.formulations.newton_euler.forward_derivatives import (
    base_of,
    first_half,
    recursion_at,
    solution_at,
    torque_slopes,
)
from symgen.formulations.newton_euler.recursion import frames_sweep, torque_step, torques
from symgen.formulations.shared import (
    all_joints,
    free_joints,
    seed_columns,
    symbolic_parameters,
    write_jacobian,
)
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import differentiate


def forward_dynamics_parameter_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """dqdd_dparameters, (n, n_parameters), at fixed q, qd and tau; all joints are free."""
    _write(tree, b, state, "qdd", all_joints(tree))


def hybrid_dynamics_parameter_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """dy_dparameters, (n, n_parameters), at fixed q, qd and x."""
    _write(tree, b, state, "y", free_joints(tree))


def _write(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    result: str,
    free: Sequence[int],
) -> None:
    frames = frames_sweep(tree, b, state.q)
    start = b.length
    solution = solved(tree, frames, b, state, free, "_bias")
    skip = range(start, b.length)
    held, values = hold(solution, b)
    here = replace(state, qdd=held.qdd)
    tau = with_joint_terms(tree, b, here, torques(tree, frames, b, here, -tree.gravity))
    columns = [
        response(tree, solution, b, column, name)
        for name, column in _by_parameter(tree, b, tau, skip).items()
    ]
    write_jacobian(tree, b, f"d{result}_dparameters", columns)
    write_pivots_of(solution, b)
    b.substitute(values)


def forward_dynamics_sensitivities(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """qdd (n,) and dqdd, (n, n_parameters), its total derivative where q, qd and tau vary."""
    base = base_of(tree, b, state)
    start = b.length
    first = first_half(base, b, state)
    solution = solution_at(tree, base, first, b, state, all_joints(tree))
    skip = range(start, b.length)
    held, values = hold(solution, b)
    known = recursion_at(tree, base, held, b, state)
    rigid = [torque_step(at, known.reactions[at.joint.number], b) for at in base.frames]
    tau = with_joint_terms(tree, b, replace(state, qdd=held.qdd), rigid)
    explicit = _by_parameter(tree, b, tau, skip)
    slopes = torque_slopes(tree, base, first, known, b, state)
    columns: list[dict[int, S]] = []
    seeds = seed_columns(b, ("dq", "dqd", "dtau"))
    for (name, column), seed in zip(explicit.items(), seeds, strict=True):
        dq, dqd, dtau = seed.values()
        zero, left = b.algebra.zero, dict[int, S]()
        for j, (by_q, by_qd) in enumerate(zip(slopes.by_q, slopes.by_qd, strict=True), start=1):
            along = inner(by_q, dq) + inner(by_qd, dqd)
            left[j] = column.get(j, zero) + along - dtau[j - 1]
        columns.append(response(tree, solution, b, left, name))
    b.output("qdd", (tree.n,), solution.qdd)
    write_jacobian(tree, b, "dqdd", columns)
    write_pivots_of(solution, b)
    b.substitute(values)


def hold(solution: Solution[S], b: ProgramBuilder[S]) -> tuple[Solution[S], dict[S, S]]:
    """The solution with symbols for accelerations, which do not vary, and what to substitute."""
    names = [f"qdd_{f}_held" for f in solution.free]
    symbols = b.auxiliary("qdd_held", (len(names),), names).symbols
    qdd = list(solution.qdd)
    for f, symbol in zip(solution.free, symbols, strict=True):
        qdd[f - 1] = symbol
    values = {symbol: solution.qdd[f - 1] for f, symbol in zip(solution.free, symbols, strict=True)}
    return replace(solution, qdd=tuple(qdd)), values


def _by_parameter(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    tau: Sequence[S],
    skip: range,
) -> Mapping[str, dict[int, S]]:
    """The explicit derivatives of the torques: by parameter and joint."""
    parameters = symbolic_parameters(tree)
    derivatives = differentiate(b, [parameters], skip)
    columns: dict[str, dict[int, S]] = {name: {} for name in parameters.symbol_names}
    for joint, torque in zip(tree.joints, tau, strict=True):
        for k, value in derivatives.of(torque).items():
            columns[parameters.symbol_names[k]][joint.number] = value
    return columns
