"""PUMA 560 as published with Corke's toolbox: a known torque, and perturbed copies."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from symgen import read
from symgen.description.expressions import Expression, Number
from symgen.formulations import FORMULATIONS
from symgen.program.evaluation import call
from tests.choosing import one_in
from tests.oracles.comparison import agrees, solving_limit
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated

EXAMPLE = Path(__file__).parents[2] / "examples" / "puma560.yaml"
Q = [.7504516826728697, .8395156106908136, .16851233582594916, .3849629637427072,
     .5252993946810777, .6701207256444748]  # fmt: skip
QD = [.24721855939629367, .9805915670454258, .9895299755642817, .7861135739668947,
      .273842245476577, .17182358900767503]  # fmt: skip
QDD = [.707405815485141, .25295715193420953, .9763909835998361, .8412822676113918,
       .4867768296473465, .11480270540937143]  # fmt: skip
TAU = [.986185688341252, 16.1055550633721, -6.54839494827661, .00626452648190803,
       -.0208972707132494, 5.59805923645945e-5]  # fmt: skip


def those_with(function):
    """The formulations that derive `function`."""
    found = [item for item in FORMULATIONS if function in item.functions]
    assert len(found) >= 3
    return found


@pytest.mark.parametrize("formulation", those_with("inverse_dynamics"), ids=lambda f: f.name)
def test_published_torque(formulation):
    program = evaluated(read(EXAMPLE), formulation, "inverse_dynamics")
    tau = call(program, {"q": Q, "qd": QD, "qdd": QDD})[0]
    np.testing.assert_allclose(tau, TAU, rtol=0, atol=1e-13)


@pytest.mark.parametrize("formulation", those_with("forward_dynamics"), ids=lambda f: f.name)
def test_accelerations_of_the_published_torque(formulation):
    """The torque is printed with 15 digits."""
    program = evaluated(read(EXAMPLE), formulation, "forward_dynamics")
    qdd = call(program, {"q": Q, "qd": QD, "tau": TAU})[0]
    np.testing.assert_allclose(qdd, QDD, rtol=0, atol=1e-12)


def perturbed(description, rng):
    """Every mass, centre, inertia and DH length changed a little (inertias stay physical)."""

    def number(value):
        return Expression(repr(value), Number(value), ())

    joints = []
    for joint in description.joints:
        link = joint.link
        A = rng.normal(size=(3, 3)) * 0.1
        inertia = np.trace(A @ A.T) * np.eye(3) - A @ A.T
        entries = [inertia[i, k] for i, k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        dh = replace(
            joint.dh,
            a=number(joint.dh.a.root.value + rng.normal() * 0.1),
            d=number(joint.dh.d.root.value + rng.normal() * 0.1),
        )
        link = replace(
            link,
            mass=number(rng.uniform(0.1, 20.0)),
            com=tuple(number(x) for x in rng.normal(size=3) * 0.2),
            inertia=tuple(number(float(x)) for x in entries),
        )
        joints.append(replace(joint, dh=dh, link=link))
    return replace(description, joints=tuple(joints))


@pytest.mark.parametrize("seed", one_in(5, range(20)))
def test_perturbed_copies_against_pinocchio(seed):
    rng = np.random.default_rng(seed)
    description = perturbed(read(EXAMPLE), rng)
    oracle = pinocchio_model(description)
    q, qd, qdd = rng.uniform(-np.pi, np.pi, (3, 6))
    no_loads = np.zeros((0, 6))
    expected = oracle.inverse_dynamics(q, qd, qdd, loads=no_loads)
    for formulation in those_with("inverse_dynamics"):
        program = evaluated(description, formulation, "inverse_dynamics")
        tau = call(program, {"q": q, "qd": qd, "qdd": qdd})[0]
        assert np.abs(tau - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())
    limit = solving_limit(oracle.mass_matrix(q))
    for formulation in those_with("forward_dynamics"):
        program = evaluated(description, formulation, "forward_dynamics")
        assert agrees(call(program, {"q": q, "qd": qd, "tau": expected})[0], qdd, limit)
