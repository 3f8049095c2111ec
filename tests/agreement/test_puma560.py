"""PUMA 560 as published with Corke's toolbox: a known torque."""

from pathlib import Path

import numpy as np
import pytest

from symgen import read
from symgen.formulations import FORMULATIONS
from symgen.program.evaluation import call
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
