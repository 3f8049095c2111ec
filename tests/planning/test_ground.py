"""Ground reactions beside the rates of momentum."""

import numpy as np
import pytest

from symgen.errors import RequestError
from symgen.planning import ground_reaction
from tests import modules
from tests.choosing import some_slow
from tests.contract.cells import FOLDER

FUNCTIONS = (
    "inverse_dynamics", "forward_kinematics", "jacobians", "center_of_mass",
    "centroidal_momentum_rate",
)  # fmt: skip
HOPPER = modules.EXAMPLES / "plan/hopper.yaml"


def walker(kind):
    if kind == "planar":
        return modules.module(HOPPER, functions=FUNCTIONS), ()
    module = modules.module(FOLDER / "robots" / f"{kind}.yaml", functions=FUNCTIONS)
    return module, module.coordinate_names[:6] if kind == "floating_angles" else ()


@pytest.mark.parametrize(
    "kind", some_slow(("planar", "floating_angles", "quaternion_body"), ["planar"])
)
def test_it_is_the_rate_of_momentum_less_the_weight(kind):
    module, free = walker(kind)
    random = np.random.default_rng(3)
    plain = module.nq == module.n
    q = random.normal(size=module.n) if plain else module.random_configuration(random)
    qd, qdd = random.normal(size=(2, module.n))
    if kind == "quaternion_body":
        qd[:6] = 0  # the joint is damped
    found = ground_reaction(module, q, qd, qdd, free=free, height=-0.2)
    centre = module.center_of_mass(q)
    rate = module.centroidal_momentum_rate(q, qd, qdd)
    mass = sum(module.inertial_parameters[::10])
    force = rate[:3] - mass * np.array(module.gravity)
    moment = rate[3:] + np.cross(centre, force)
    assert np.allclose(found.force, force, atol=1e-9)
    assert np.allclose(found.moment, moment, atol=1e-9)
    assert abs(found.zmp[2] + 0.2) < 1e-12
    left = moment - np.cross(found.zmp, force)
    assert np.allclose(left, [0, 0, found.free_moment], atol=1e-9)


def test_batches_loads_and_inclined_ground():
    module, _ = walker("quaternion_body")
    states = np.random.default_rng(0)
    q = module.neutral() + np.zeros((4, 1))
    qd, qdd = np.zeros((4, module.n)), states.normal(size=(4, module.n))
    normal = np.array([0.6, 0, 0.8])
    load = np.zeros((1, 6))
    load[0, :3] = 1, 2, 3
    bare, held = (
        ground_reaction(module, q, qd, qdd, normal=normal, loads=x) for x in (0 * load, load)
    )
    assert np.allclose(bare.force - held.force, load[0, :3])
    assert np.allclose(held.zmp @ normal, 0)
    left = held.moment - np.cross(held.zmp, held.force)
    assert np.allclose(left, held.free_moment[:, None] * normal)


@pytest.mark.parametrize(("options", "words"), [
    ({"free": ["nee"]}, "'nee' is no coordinate; did you mean"),
    ({"free": ["knee"]}, "name up to six coordinates at the base"),
    ({"normal": [0, 0, 2]}, "expected a unit vector"),
])  # fmt: skip
def test_what_it_refuses(options, words):
    module, _ = walker("planar")
    with pytest.raises(RequestError, match=words):
        ground_reaction(module, *np.zeros((3, 6)), **options)


def test_a_robot_on_a_pedestal_is_refused():
    module = modules.module(modules.EXAMPLES / "two_link.yaml", functions=FUNCTIONS)
    with pytest.raises(RequestError, match="name up to six"):
        ground_reaction(module, *np.zeros((3, 2)))
