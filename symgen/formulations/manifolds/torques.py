"""Functions of given accelerations: torques, their parts and derivatives, matrices, motions, and
constraints of mechanisms.

At e = 0 the columns of the chain are those of the joint, W(0) = 1, so that J and the rates J w are
the chain's, and second rates are the chain's at e'' = w' - N.  With J instead of derivatives
by accelerations these turn as those of any scalar (MF-4).  The torques p = J^T x are given along
the joint's own columns, which turn with it: as of inverse dynamics

    dp/de_k = (that of the chain) - D_k^T p,

and so the derivative is symmetric no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from symgen.algebra.interface import S
from symgen.formulations.manifolds.chain import (
    Chain,
    FloatingBase,
    of_turned_loads,
    turned_gravity,
    without_sliding,
)
from symgen.formulations.manifolds.tangent import Row, in_tangent_space, minus, plus, rows_of
from symgen.formulations.shared import flat
from symgen.program.builder import Results
from symgen.program.functions import function_named

UNCHANGED = (
    "inverse_dynamics_load_derivatives", "mass_matrix", "gravity_forces", "kinetic_energy",
    "potential_energy", "forward_kinematics", "jacobians", "center_of_mass",
    "center_of_mass_jacobian", "centroidal_momentum", "centroidal_momentum_matrix",
    "constraints", "constraint_jacobian", "loop_wrenches", "constraint_rates", "constraint_torques",
)  # fmt: skip
"""The functions that are those of the chain, rotors included."""

OF_SPRINGS = (
    "potential_energy", "outputs", "outputs_derivatives",
)  # fmt: skip
"""Functions that know the energy of springs."""

OF_ACCELERATIONS = (
    "joint_wrenches", "point_motion", "link_motion", "centroidal_momentum_rate", "regressor",
    "outputs", "constraint_bias", "constraint_accelerations",
)  # fmt: skip
"""Functions of the chain at its accelerations."""

JACOBIAN = "constraint_jacobian"

SLOPES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "joint_wrench_derivatives": (("dw_dq", "dw_dqd", "dw_dqdd"),),
    "point_motion_derivatives": (("dx_dq",), ("dv_dq", "dv_dqd"), ("da_dq", "da_dqd", "da_dqdd")),
    "outputs_derivatives": (("do_dq", "do_dqd", "do_dqdd"),),
}
"""Results that are derivatives of one thing by q, qd and qdd, and of no torque."""


def unchanged(chain: Chain[S]) -> Results[S]:
    """Write the chain's function."""
    springs = chain.function in OF_SPRINGS
    return chain.finish(chain.call(chain.function, chain.state.qdd, rotors=True, springs=springs))


def of_accelerations(chain: Chain[S]) -> Results[S]:
    """Write the chain's function at its accelerations."""
    energies = chain.function in OF_SPRINGS
    qdd = chain.accelerations
    return chain.finish(chain.call(chain.function, qdd, rotors=energies, springs=energies))


def torques(chain: Chain[S]) -> Results[S]:
    """Write inverse dynamics; bias forces are torques at w' = 0, where e'' is -N."""
    tau = chain.call("inverse_dynamics", chain.accelerations)["tau"]
    result = function_named(chain.function).results[0].name
    return chain.finish({result: chain.named(result, plus(tau, chain.drives), "MF-6")})


def torque_parts(chain: Chain[S]) -> Results[S]:
    """M w' apart from -M N, which are products of different velocities: Coriolis torques."""
    inertial, coriolis, terms = "inertial_torques", "coriolis_torques", "joint_term_torques"
    parts = chain.call("torque_parts", chain.state.qdd)
    with chain.b.variant("_own"):
        of_N = chain.call("torque_parts", [-x for x in chain.N])
    rotors = minus(chain.drives, chain.losses)
    parts[coriolis] = plus(parts[coriolis], of_N[inertial])
    parts[inertial] = plus(parts[inertial], rotors)
    parts[terms] = plus(parts[terms], chain.losses)
    notes = dict.fromkeys(parts, "MF-4") | {terms: "MF-6"}
    return chain.finish({name: chain.named(name, x, notes[name]) for name, x in parts.items()})


def coriolis_matrix(chain: Chain[S]) -> Results[S]:
    """Write the Coriolis matrix: MF-5."""
    C = chain.call("coriolis_matrix", chain.state.qdd)["coriolis_matrix"]
    with chain.b.variant("_mass"):
        M = chain.call("mass_matrix", chain.state.qdd)["mass_matrix"]
    rows = rows_of(C, chain.n)
    for row, mass in zip(rows, rows_of(M, chain.n), strict=True):
        for space in chain.joints:
            moved = space.transposed(space.D_w, space.of(mass))
            for k, x in zip(space.at, moved, strict=True):
                row[k] = row[k] - x
    return chain.finish({"coriolis_matrix": chain.named("coriolis_matrix", flat(rows), "MF-5")})


def inverse_dynamics_derivatives(chain: Chain[S]) -> Results[S]:
    """Write MF-4 of torques: those of the joint, W^-T times those of the chain, turn with it."""
    results = chain.call(chain.function, chain.accelerations)
    tau = results.pop("tau")
    by_q, by_qd, by_qdd = (rows_of(entries, chain.n) for entries in results.values())
    without_sliding(chain.bases, by_qd)
    for row in zip(by_q, by_qd, by_qdd, strict=True):
        in_tangent_space(chain.joints, row, chain.accelerations, {})
    for space in chain.joints:
        springs = chain.spring_slopes(space)
        for k, place in enumerate(space.at):
            turned = space.transposed(space.D[k], space.of(tau))
            for i, x, spring in zip(space.at, turned, springs[k], strict=True):
                by_q[i][place] = by_q[i][place] - x + spring
    for base in chain.bases:
        _of_base(chain, base, by_q, by_qdd)
    for k in range(chain.n):
        by_qd[k][k] = by_qd[k][k] + chain.drive_slopes["qd"][k]
        by_qdd[k][k] = by_qdd[k][k] + chain.drive_slopes["qdd"][k]
    named = {"tau": chain.named("tau", plus(tau, chain.drives), "MF-6")}
    for name, matrix in zip(results, (by_q, by_qd, by_qdd), strict=True):
        named[name] = chain.named(name, flat(matrix), "MF-4")
    return chain.finish(named)


def _of_base(chain: Chain[S], base: FloatingBase[S], by_q: list[Row[S]], M: list[Row[S]]) -> None:
    """MF-8: the columns of `by_q` of a floating base, in place."""
    for k, place in enumerate(base.places):
        weights = turned_gravity(chain, base, k) if k in base.angular else {}
        loads = of_turned_loads(chain, base, k, "inverse_dynamics") if k in base.angular else None
        for i, row in enumerate(by_q):
            row[place] = chain.zero if loads is None else loads[i]
            for c, weight in weights.items():
                row[place] = row[place] - M[i][c] * weight


def slopes(chain: Chain[S]) -> Results[S]:
    """Write MF-4 of what is no torque: wrenches, motions of points, outputs."""
    springs = chain.function in OF_SPRINGS
    results = chain.call(chain.function, chain.accelerations, springs=springs)
    for group in SLOPES[chain.function]:
        matrices = [rows_of(results[name], chain.n) for name in group]
        for row in zip(*matrices, strict=True):
            in_tangent_space(chain.joints, row, chain.accelerations, {})
        results |= {name: flat(matrix) for name, matrix in zip(group, matrices, strict=True)}
    for name in (name for group in SLOPES[chain.function] for name in group):
        results[name] = chain.named(name, results[name], "MF-4")
    return chain.finish(results)


def rate_derivatives(chain: Chain[S]) -> Results[S]:
    """Write MF-4 of rates or second rates."""
    results = chain.call(chain.function, chain.accelerations)
    with chain.b.variant("_rows"):
        J = chain.call(JACOBIAN, chain.state.qdd)[JACOBIAN]
    value, *slopes = results
    matrices = [rows_of(x, chain.n) for x in (*map(results.__getitem__, slopes), J)]
    for row in zip(*matrices, strict=True):
        in_tangent_space(chain.joints, row, chain.accelerations, {})
    changed = [results[value], *map(flat, matrices[:-1])]
    names = zip(results, changed, strict=True)
    return chain.finish({name: chain.named(name, entries, "MF-4") for name, entries in names})


def torque_derivatives(chain: Chain[S]) -> Results[S]:
    """Write MF-4 of J^T x."""
    (value, torques), (slope, entries) = chain.call(chain.function, chain.state.qdd).items()
    by_q = rows_of(entries, chain.n)
    for space in chain.joints:
        for k, place in enumerate(space.at):
            turned = space.transposed(space.D[k], space.of(torques))
            for i, x in zip(space.at, turned, strict=True):
                by_q[i][place] = by_q[i][place] - x
    results = {value: torques, slope: flat(by_q)}
    return chain.finish({name: chain.named(name, x, "MF-4") for name, x in results.items()})


FUNCTIONS: Mapping[str, Callable[[Chain[Any]], Results[Any]]] = {
    **dict.fromkeys(UNCHANGED, unchanged),
    **dict.fromkeys(OF_ACCELERATIONS, of_accelerations),
    **dict.fromkeys(SLOPES, slopes),
    "inverse_dynamics": torques,
    "bias_forces": torques,
    "torque_parts": torque_parts,
    "coriolis_matrix": coriolis_matrix,
    "inverse_dynamics_derivatives": inverse_dynamics_derivatives,
    **dict.fromkeys(
        ("constraint_rate_derivatives", "constraint_acceleration_derivatives"), rate_derivatives
    ),
    "constraint_torque_derivatives": torque_derivatives,
}
