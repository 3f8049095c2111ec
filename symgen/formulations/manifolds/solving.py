"""Functions that solve for accelerations: forward dynamics, and hybrid dynamics.

A joint on a manifold is free or prescribed as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

from symgen.algebra.interface import S
from symgen.formulations.joint_terms import reflected_inertia
from symgen.formulations.manifolds.chain import (
    Chain,
    FloatingBase,
    of_turned_loads,
    turned_gravity,
    without_sliding,
)
from symgen.formulations.manifolds.tangent import (
    Row,
    Tangent,
    TorqueSlopes,
    dot,
    in_tangent_space,
    minus,
    plus,
    rows_of,
    times,
)
from symgen.formulations.shared import flat, seed_columns
from symgen.program.arguments import DIAGONAL, PIVOTS
from symgen.program.builder import Results
from symgen.program.derivatives import DERIVATIVES
from symgen.program.functions import function_named


@dataclass(frozen=True)
class Given(Generic[S]):
    """Given accelerations or torques of every coordinate of the chain.

    `free` has the indices of the first coordinates of those joints on manifolds that are free.
    """

    free: set[int]
    qdd: Row[S]
    tau: Row[S]


def accelerations(chain: Chain[S]) -> Results[S]:
    """Write the accelerations, by MF-3, backwards."""
    chained = _given(chain)
    results = chain.call(chain.function, chained.qdd, chained.tau, rotors=True)
    name, entries = next(iter(results.items()))
    results[name] = chain.named(name, _found(chain, chained, entries), "MF-3")
    return chain.finish(results)


def parameter_derivatives(chain: Chain[S]) -> Results[S]:
    """Write the chain's derivatives, MF-6 included; N has no parameters."""
    chained = _given(chain, bearings=True)
    return chain.finish(chain.call(chain.function, chained.qdd, chained.tau, bearings=True))


def derivatives(chain: Chain[S]) -> Results[S]:
    """MF-4 with torques given of free joints, accelerations of prescribed ones."""
    chained = _given(chain)
    results = chain.call(chain.function, chained.qdd, chained.tau, rotors=True)
    first, *slopes = (array.name for array in function_named(chain.function).results)
    entries, matrices = results[first], [rows_of(results[name], chain.n) for name in slopes]
    without_sliding(chain.bases, matrices[1])
    qdd = list(chained.qdd)
    for space in chain.joints:
        for k in space.at if space.at[0] in chained.free else ():
            qdd[k] = entries[k]
    torques = {
        space.at[0]: _torque_slopes(chain, space, chained, qdd)
        for space in chain.joints
        if space.at[0] in chained.free
    }
    for row in zip(*matrices, strict=True):
        in_tangent_space(chain.joints, row, qdd, torques)
    for space in chain.joints:
        for k, place in enumerate(space.at):
            if space.at[0] in chained.free:  # d(W e'' + N) - de''
                by_place, by_velocity = space.curved(k, space.of(qdd)), space.N_by_velocity[k]
            else:
                by_place, by_velocity = _of_torques(chain, space, k, entries, qdd)
            for i, x, y in zip(space.at, by_place, by_velocity, strict=True):
                matrices[0][i][place] = matrices[0][i][place] + x
                matrices[1][i][place] = matrices[1][i][place] + y
    for base in chain.bases:
        _of_base(chain, base, matrices[0])
    results[first] = chain.named(first, _found(chain, chained, entries), "MF-3")
    for name, matrix in zip(slopes, matrices, strict=True):
        results[name] = chain.named(name, flat(matrix), "MF-4")
    return chain.finish(results)


def _of_base(chain: Chain[S], base: FloatingBase[S], by_q: list[Row[S]]) -> None:
    """MF-8: the columns of `by_q` of a floating base, in place: it falls, and loads turn."""
    function = DERIVATIVES[chain.function].of
    for k, place in enumerate(base.places):
        falls = turned_gravity(chain, base, k) if k in base.angular else {}
        loads = of_turned_loads(chain, base, k, function) if k in base.angular else None
        for i, row in enumerate(by_q):
            row[place] = chain.zero if loads is None else loads[i]
            row[place] = row[place] + falls.get(i, chain.zero)


def sensitivities(chain: Chain[S]) -> Results[S]:
    """Return the chain rule over the derivatives by q, qd, tau and by the parameters."""
    b = chain.b
    results = _of(chain, "forward_dynamics_derivatives")
    with b.variant("_parameters"):
        parameters = _of(chain, "forward_dynamics_parameter_derivatives")
    explicit = parameters["dqdd_dparameters"]
    qdd, *matrices = list(results.values())[:4]
    seeds = ("dq", "dqd", "dtau")
    columns = seed_columns(b, seeds) if explicit else []
    total = rows_of(explicit, len(columns)) if explicit else [[] for _ in range(chain.n)]
    for p, column in enumerate(columns):
        for name, matrix in zip(seeds, matrices, strict=True):
            for k, row in enumerate(rows_of(matrix, chain.n)):
                total[k][p] = total[k][p] + dot(row, column[name], chain.zero)
    dqdd = chain.named("dqdd", flat(total), "MF-4")
    return {"qdd": qdd, "dqdd": dqdd, **{name: results[name] for name in (PIVOTS, DIAGONAL)}}


def _of(chain: Chain[S], function: str) -> Results[S]:
    """Write another function of the joints."""
    return FUNCTIONS[function](replace(chain, function=function, values={}))


# ------------------------------------------------------------------------- what the chain is given


def _given(chain: Chain[S], bearings: bool = False) -> Given[S]:
    """W^T (tau - I N - losses) at e = 0 of free joints, w' - N of prescribed ones.

    With `bearings`, where the chain has these losses and I N, W^T tau of free joints.
    """
    N, losses = chain.N, [] if bearings else chain.losses
    coordinates = chain.tree.independent
    hybrid = function_named(chain.function).is_hybrid
    chained: Given[S] = Given(set(), list(chain.state.qdd), list(chain.state.tau))
    for space in chain.joints:
        if not (hybrid and coordinates[space.at[0]].prescribed):
            chained.free.add(space.at[0])
        with chain.b.step("tangent space", space.joint.name):
            for k, rotor in zip(space.at, _rotors(chain, space), strict=True):
                if space.at[0] in chained.free:
                    if not bearings:
                        value = chained.tau[k] - losses[k] - rotor * N[k]
                        chained.tau[k] = chain.b.let(f"tau_{chain.name(k)}", value, "MF-6")
                else:
                    chained.qdd[k] = chain.b.let(
                        f"qdd_{chain.name(k)}", chained.qdd[k] - N[k], "MF-3"
                    )
    return chained


def _found(chain: Chain[S], chained: Given[S], entries: Sequence[S]) -> Row[S]:
    """w' = e'' + N of free joints; torques with what drives add of prescribed ones."""
    results = list(entries)
    for space in chain.joints:
        for k, rotor in zip(space.at, _rotors(chain, space), strict=True):
            if space.at[0] in chained.free:
                results[k] = results[k] + chain.N[k]
            else:  # its rotors moved with the chain
                results[k] = results[k] + chain.losses[k] + rotor * chain.N[k]
    return results


def _rotors(chain: Chain[S], space: Tangent[S]) -> Row[S]:
    """I of the joint's coordinates."""
    return [reflected_inertia(chain.tree.independent[k]) for k in space.at]


# ------------------------------------------------------------------------------- own derivatives


def _torque_slopes(
    chain: Chain[S], space: Tangent[S], chained: Given[S], qdd: Sequence[S]
) -> TorqueSlopes[S]:
    """Return the slopes of W^T (tau - I N - losses) - (W^T I W - I) e''."""
    rotors, e, tau = _rotors(chain, space), space.of(qdd), space.of(chained.tau)
    slopes: TorqueSlopes[S] = TorqueSlopes([], [])
    springs = chain.spring_slopes(space)
    for k, place in enumerate(space.at):
        heavy = plus(times(rotors, space.N_by_place[k]), _turned_rotors(space, rotors, e, k))
        turned = minus(space.transposed(space.D[k], tau), heavy)
        slopes.by_place.append(minus(turned, springs[k]))
        moved = [-x for x in times(rotors, space.N_by_velocity[k])]
        moved[k] = moved[k] - chain.drive_slopes["qd"][place]
        slopes.by_velocity.append(moved)
    return slopes


def _of_torques(
    chain: Chain[S], space: Tangent[S], k: int, entries: Sequence[S], qdd: Sequence[S]
) -> tuple[Row[S], Row[S]]:
    """d(W^-T (tau_e - I e'') + I w' + losses) - dtau_e by place and velocity k."""
    rotors = _rotors(chain, space)
    turned = space.transposed(space.D[k], space.of(entries))
    heavy = plus(
        times(rotors, space.N_by_place[k]), _turned_rotors(space, rotors, space.of(qdd), k)
    )
    by_velocity = times(rotors, space.N_by_velocity[k])
    by_velocity[k] = by_velocity[k] + chain.drive_slopes["qd"][space.at[k]]
    return plus(minus(heavy, turned), chain.spring_slopes(space)[k]), by_velocity


def _turned_rotors(space: Tangent[S], rotors: Sequence[S], qdd: Sequence[S], k: int) -> Row[S]:
    """(D_k^T I + I D_k) e''"""
    moved = times(rotors, space.times(space.D[k], qdd))
    return plus(space.transposed(space.D[k], times(rotors, qdd)), moved)


FUNCTIONS: Mapping[str, Callable[[Chain[Any]], Results[Any]]] = {
    "forward_dynamics": accelerations,
    "hybrid_dynamics": accelerations,
    "forward_dynamics_derivatives": derivatives,
    "hybrid_dynamics_derivatives": derivatives,
    "forward_dynamics_parameter_derivatives": parameter_derivatives,
    "hybrid_dynamics_parameter_derivatives": parameter_derivatives,
    "forward_dynamics_sensitivities": sensitivities,
}
