"""What turns against a floating base: gravity and loads, in the axes of the body (MF-8)."""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.algebra.linear import zero_vector
from symgen.formulations.manifolds.bases import FloatingBase
from symgen.formulations.manifolds.chain import Chain
from symgen.formulations.manifolds.tangent import Row
from symgen.formulations.state import Wrench


def turned_gravity(chain: Chain[S], base: FloatingBase[S], k: int) -> dict[int, S]:
    """t_c . (g_b x a_k) by the place of each linear column c."""
    tangent, b = base.tangent, chain.b
    with b.step("tangent space", tangent.joint.name):
        seat = chain.seat(tangent.joint).rotation
        g = b.let(f"g_{tangent.joint.name}", seat.transposed.apply(chain.tree.gravity), "MF-8")
    turned = g.cross(tangent.columns[k].w)
    return {tangent.at[c]: tangent.columns[c].v.dot(turned) for c in base.linear}


def of_turned_loads(chain: Chain[S], base: FloatingBase[S], k: int, function: str) -> Row[S] | None:
    """What loads add to the derivative of a function by theta_k; None where none rides on the base.

    It is that function of a robot without weight or motion, loaded by -R a_k x f and -R a_k x n.
    """
    tangent, b = base.tangent, chain.b
    body = tangent.joint.columns[-1]
    riding = [body in chain.tree.path(load.body) for load in chain.tree.loads]
    if not any(riding):
        return None
    axis = chain.seat(tangent.joint).rotation.apply(tangent.columns[k].w)
    none = Wrench(zero_vector(chain.tree.algebra), zero_vector(chain.tree.algebra))
    name = chain.name(tangent.at[k])
    loads = []
    with b.variant(f"_{name}", "loads that turn"), b.step("tangent space", tangent.joint.name):
        for number, (load, rides) in enumerate(zip(chain.state.loads, riding, strict=True)):
            turned = Wrench(load.force.cross(axis), load.moment.cross(axis))
            force = b.let(f"turned_f_{number}", turned.force, "MF-8")
            moment = b.let(f"turned_n_{number}", turned.moment, "MF-8")
            loads.append(Wrench(force, moment) if rides else none)
    with b.variant(f"_{name}", "loads that turn"):
        return chain.of_loads_alone(function, tuple(loads))
