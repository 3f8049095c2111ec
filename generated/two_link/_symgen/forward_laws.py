"""Laws of forward and hybrid dynamics: consistency with inverse dynamics."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from . import limits
from .scales import FD, HD, ID, SOLVED, response
from .subjects import Check, Comparison, Evaluation, top


def not_compared(s: Evaluation) -> Iterator[Check]:
    """Yield a row without samples where the mass matrix is singular."""
    for base, joints in ((FD, ""), (HD, " of the free joints")):
        if any(s.has(name) for name, of in SOLVED.items() if of == base):
            regular = response(s, base).regular
            if not regular.all():
                where = f"{int(np.sum(~regular))} of {len(regular)} random states"
                what = f"the mass matrix{joints} is singular at {where}"
                name = f"{what}: {base} is not compared there"
                yield Check(name, "every formulation", 0.0, 0.0, 0)


def unsolvable(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Functions return no numbers where a joint moves no mass."""
    for name in filter(s.has, SOLVED):
        where = response(lens, name).unsolvable
        if where.any():
            values = np.asarray(s[name])[where]
            solved = np.isfinite(values).all(axis=-1, keepdims=True)
            while solved.ndim > 2:
                solved = solved.all(axis=-1)
            what = f"{name} has no solution where the mass matrix is singular"
            yield what, limits.exact, solved.astype(float), np.zeros(solved.shape)


def forward_dynamics(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Forward dynamics is the inverse of inverse dynamics."""
    yield from _consistent(s, lens, FD)
    name = f"{FD}_derivatives"
    if s.has(name) and lens.has("mass_matrix"):
        r = response(lens, name)
        mass, ok = np.asarray(lens["mass_matrix"]), r.regular
        product = np.asarray(s.results(name)[3]) @ mass
        scale = r.scales(s, name)[3] * top(np.abs(mass).sum(axis=-2))
        identity = np.broadcast_to(np.eye(mass.shape[-1]), product.shape)
        what = f"{name}, dqdd_dtau mass_matrix = 1"
        yield what, limits.physics, product[ok], identity[ok], scale[ok]
    yield from _sensitivities(s, lens)


def hybrid_dynamics(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Hybrid dynamics agrees with inverse dynamics."""
    if s.facts.prescribed is not None:
        yield from _consistent(s, lens, HD)


def _consistent(s: Evaluation, lens: Evaluation, name: str) -> Iterator[Comparison]:
    holder = s if s.has(ID) else lens
    if not (s.has(name) and holder.has(ID)):
        return
    r, inputs = response(lens, name), s.states.x if name == HD else s.states.tau
    accelerations, torques = r.both(inputs, np.asarray(s[name]))
    value, ok = np.asarray(holder.at(ID, qdd=accelerations)), r.regular
    scale = r.forces(inputs, np.asarray(s[name]))
    what = "inverse_dynamics of the accelerations = torques"
    yield f"{name}: {what}", limits.physics, value[ok], torques[ok], scale[ok]


def _sensitivities(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Sensitivities follow from derivatives by the chain rule."""
    name, states = f"{FD}_sensitivities", s.states
    if not (s.has(name) and states.parameters.size):
        return
    r = response(lens, name)
    qdd, total = (np.asarray(x) for x in s.results(name))
    scales, ok = r.scales(s, name), r.regular
    if s.has(FD):
        what = f"{name}, qdd = {FD}"
        yield what, limits.agreement, qdd[ok], np.asarray(s[FD])[ok], scales[0][ok]
    parts = f"{FD}_derivatives", f"{FD}_parameter_derivatives"
    holder = s if s.has(*parts) else lens
    if holder.has(*parts):
        slopes = [np.asarray(x) for x in holder.results(parts[0])[1:]]
        pairs = zip(slopes, (states.dq, states.dqd, states.dtau), strict=True)
        terms = [np.asarray(holder[parts[1]]), *(a @ b for a, b in pairs)]
        sizes = np.maximum(scales[1], np.max(r.scales(holder, parts[0])[1:], axis=0))
        what = f"{name}, dqdd = chain rule"
        terms = [term[ok] for term in terms]
        yield what, limits.physics, total[ok], sum(terms), sizes[ok], *terms


FORWARD_LAWS: tuple[Callable[[Evaluation, Evaluation], Iterator[Comparison]], ...] = (
    forward_dynamics, hybrid_dynamics, unsolvable,
)  # fmt: skip
