"""The notebooks: valid, they run; answers of that for class are wrong and can be righted."""

import json
import os
import re
import sys

import pytest

import symgen
from tests.choosing import some_slow
from tests.modules import EXAMPLES
from tests.support.commands import printed_by

ROBOT = EXAMPLES / "two_link.yaml"
CELLS = {
    name: json.loads((EXAMPLES / f"{name}.ipynb").read_text())["cells"]
    for name in ("class_two_link", "plan_two_link")
}
WRONG = [
    answer
    for cell in CELLS["class_two_link"]
    for answer in re.findall(r'^grade\("""(.*?)"""\)$', "".join(cell["source"]), re.S | re.M)
]

RIGHT = (
    """
v1 = l1**2*qd1**2
v2 = L1**2*qd1**2 + l2**2*(qd1 + qd2)**2 + 2*L1*l2*c2*qd1*(qd1 + qd2)
T = (m1*v1 + I1*qd1**2 + m2*v2 + I2*(qd1 + qd2)**2)/2
""",
    """
M[1,1] = I1 + I2 + m1*l1**2 + m2*(L1**2 + l2**2 + 2*L1*l2*c2)
M[1,2] = I2 + m2*(l2**2 + L1*l2*c2)
M[2,2] = I2 + m2*l2**2
""",
    """
G[1] = m1*l1*g*c1 + m2*L1*g*c1 + m2*l2*g*c12
G[2] = m2*l2*g*c12
""",
    """
h = m2*L1*l2*s2
b[1] = -h*(2*qd1*qd2 + qd2**2) + (m1*l1 + m2*L1)*g*c1 + m2*l2*g*c12
b[2] = h*qd1**2 + m2*l2*g*c12
""",
    """
newton_euler.omega_2_z = qd1 + qd2
newton_euler.alpha_2_z = qdd1 + qdd2
newton_euler.a_in_2_y = -s2*a_1_x + c2*a_1_y
""",
    """
newton_euler.n_2_z = n_G_2_z + l2*F_G_2_y
newton_euler.n_1_z = n_G_1_z + l1*F_G_1_y + n_2_z + L1*(s2*f_2_x + c2*f_2_y)
""",
    """
dtau_dqd[2,2] = 0
dtau_dqd[1,2] = -2*m2*L1*l2*s2*qd1 - 2*m2*L1*l2*s2*qd2
""",
    """
inertia = (I2 + m2*(l2**2 + L1*l2*c2))*qdd1 + (I2 + m2*l2**2)*qdd2
load = L2*(c12*tip_fy - s12*tip_fx) + tip_nz
tau[2] = inertia + m2*L1*l2*s2*qd1**2 + m2*l2*g*c12 - load
""",
)
"""The exercises, solved."""


@pytest.mark.parametrize("name", CELLS)
def test_it_is_valid_and_holds_no_results(name):
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat: pip install 'symgen[test]'")
    nbformat.validate(nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4))
    for cell in CELLS[name]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


def test_there_are_as_many_exercises_as_headings():
    lines = [line for cell in CELLS["class_two_link"] for line in cell["source"]]
    headings = [line for line in lines if line.startswith("### Exercise")]
    assert len(WRONG) == len(RIGHT) == len(headings) == 8


@pytest.mark.parametrize("number", some_slow(range(1, 9), [1, 5]))
def test_an_answer_is_wrong_at_first_and_can_be_righted(number):
    first = symgen.grade(ROBOT, WRONG[number - 1])
    assert "WRONG" in str(first)
    assert "the term" in str(first)
    assert symgen.grade(ROBOT, RIGHT[number - 1]).passed


def cells_printed(name):
    """What the cells of a notebook print, run as a program in the folder of the examples."""
    for library in ("matplotlib", "xarray", "scipy", "casadi"):
        pytest.importorskip(library, reason=f"needs {library}: pip install 'symgen[examples]'")
    cells = ["".join(cell["source"]) for cell in CELLS[name] if cell["cell_type"] == "code"]
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": str(EXAMPLES.parent)}
    return printed_by(sys.executable, "-c", "\n\n".join(cells), cwd=EXAMPLES, env=environment)


@pytest.mark.deep
def test_the_notebook_for_class_runs():
    text = cells_printed("class_two_link")
    assert len(re.findall("WRONG", text)) >= 8
    difference = re.search(r"largest difference in 1000 states: (\S+) N m", text)
    change = re.search(r"largest change of the energy: (\S+) J", text)
    assert float(difference[1]) < 1e-13
    assert float(change[1]) < 1e-8


@pytest.mark.deep
def test_the_notebook_on_optimal_motions_runs():
    times = [
        line.split("T = ")[1].split()[0] for line in cells_printed("plan_two_link").splitlines()[:2]
    ]
    assert times == ["0.392659", "0.393140"]
