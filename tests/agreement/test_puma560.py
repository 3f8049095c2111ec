"""PUMA 560 as published with Corke's toolbox: a known torque."""

import numpy as np
import pytest

from symgen import read
from symgen.formulations import FORMULATIONS
from symgen.program.evaluation import call
from tests.modules import EXAMPLES
from tests.oracles.programs import evaluated

EXAMPLE = EXAMPLES / "puma560.yaml"
Q = [.7504516826728697, .8395156106908136, .16851233582594916, .3849629637427072,
     .5252993946810777, .6701207256444748]  # fmt: skip
QD = [.24721855939629367, .9805915670454258, .9895299755642817, .7861135739668947,
      .273842245476577, .17182358900767503]  # fmt: skip
QDD = [.707405815485141, .25295715193420953, .9763909835998361, .8412822676113918,
       .4867768296473465, .11480270540937143]  # fmt: skip
TAU = [.986185688341252, 16.1055550633721, -6.54839494827661, .00626452648190803,
       -.0208972707132494, 5.59805923645945e-5]  # fmt: skip


KNOWN = {
    "inverse_dynamics": ({"q": Q, "qd": QD, "qdd": QDD}, TAU, 1e-13),
    "forward_dynamics": ({"q": Q, "qd": QD, "tau": TAU}, QDD, 1e-12),
}
"""Arguments, result and tolerance; the torque is printed with 15 digits."""
CASES = [(item, name) for name in KNOWN for item in FORMULATIONS if name in item.functions]


@pytest.mark.parametrize(("formulation", "function"), CASES, ids=lambda x: getattr(x, "name", x))
def test_published_values(formulation, function):
    arguments, expected, tolerance = KNOWN[function]
    found = call(evaluated(read(EXAMPLE), formulation, function), arguments)[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
