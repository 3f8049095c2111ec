"""Each line of a program is the derivative that its name says, by complex steps of the line that
it is named after: ``d_omega_3_x_dq_1`` is how ``omega_3_x`` changes with q_1.

On a robot that has a parameter in every place of a model file that takes one; results are lines,
too."""

import re
from functools import cache

import pytest

from symgen.algebra.graph import Graph
from symgen.formulations import derive, formulation_named
from symgen.formulations.direct import _mirrored
from symgen.kinematics.tree import build_tree
from tests.choosing import some_slow
from tests.oracles.comparison import state_of
from tests.oracles.implicit import Implicit
from tests.oracles.lines import compared, slopes_of, values_of
from tests.oracles.parameter_kinds import every_kind

TORQUES, WRENCHES = "inverse_dynamics_derivatives", "joint_wrench_derivatives"
BY_PARAMETERS = "inverse_dynamics_parameter_derivatives"
ACCELERATIONS = "forward_dynamics_derivatives"
OF_ACCELERATIONS = "forward_dynamics_parameter_derivatives"
MATRICES = "A A_in B B_at B_in C C_at C_in"
SEMI = "A J J_G Q_E Q_I Q_sum a alpha arm arm_dot b b_dot d o omega r_G r_J tau u v w"
SEMI_RATES = "Q_I Q_sum a alpha arm_dot b_dot d drive omega tau v"
SEMI_TORQUES = {"q": f"{SEMI} c h mc t", "qd": f"{SEMI_RATES} h t", "qdd": "Q_sum a alpha tau"}
SEMI_PARAMETERS = f"{SEMI} drive m weight"
KANE_FORCES = "K tau a a_carried alpha alpha_own drive omega omega_in qdd F1 H"
KANE = "C F1 H K M tau P R0 a a_carried alpha alpha_own f_e gamma n_e omega omega_in qdd r"
ARTICULATED = "A_f A_n F F_left_f F_left_n W a_t alpha_t e omega qdd qdd_own"
KINDS = {
    ("composite", TORQUES): {"q": "tau", "qd": "drive tau", "qdd": "tau"},
    ("composite", WRENCHES): {"q": "f_w n_w", "qd": "f_w n_w", "qdd": "f_w n_w"},
    ("newton_euler", TORQUES): {
        "q": "F_G H R R0 a_G alpha f f_e n n_G n_e omega tau",
        "qd": "F_G H a_G alpha drive f n n_G omega tau", "qdd": "F_G a_G alpha f n n_G tau"},
    ("newton_euler", WRENCHES): {"q": "f n_o", "qd": "f n_o", "qdd": "f n_o"},
    ("newton_euler", BY_PARAMETERS): {
        "parameters": "F_G H R R0 a a_G alpha drive dx f f_e n n_G n_e omega tau"},
    ("kane", ACCELERATIONS): {
        "q": f"{ARTICULATED} I I_left U_f U_n a_in alpha_in f_e g_f g_n n_e pivot",
        "qd": f"{ARTICULATED} resistance", "tau": "A_f A_n F F_left_f F_left_n e qdd qdd_own"},
    ("kane", OF_ACCELERATIONS): {
        "parameters": f"{ARTICULATED} I I_left J U_f U_n f_e g_f g_n h n_e pivot resistance"},
    ("recursive_lagrange", TORQUES): {
        "q": f"{MATRICES} T D E F_push TD TE TF_blow TF_push TF_wind tau",
        "qd": "B B_at B_in C C_at C_in D TD drive tau", "qdd": "C C_at C_in D TD tau"},
    ("recursive_lagrange", "point_motion_derivatives"): {
        "q": f"{MATRICES} x_tip_x v_tip_y a_mark_z"},
    ("recursive_lagrange", BY_PARAMETERS): {
        "parameters": f"{MATRICES} D E F_blow F_push I T TD TE U Z drive tau"},
    ("closed_form_lagrange", TORQUES): {"q": "D G M V dA_I ddA load tau", "qd": "V drive"},
    ("closed_form_lagrange", BY_PARAMETERS): {
        "parameters": "A D G M T V dA dA_I ddA drive load tau"},
    ("explicit_kane", ACCELERATIONS): {"q": f"{KANE} IP", "qd": KANE_FORCES},
    ("explicit_kane", OF_ACCELERATIONS): {"parameters": f"{KANE} IP s drive"},
    ("partially_recursive_kane", ACCELERATIONS): {
        "q": f"{KANE} R1 R2 F2", "qd": f"{KANE_FORCES} F2"},
    ("partially_recursive_kane", OF_ACCELERATIONS): {"parameters": f"{KANE} R1 R2 F2 s drive"},
    ("semi_recursive", TORQUES): SEMI_TORQUES,
    ("semi_recursive", BY_PARAMETERS): {"parameters": f"{SEMI_PARAMETERS} c h mc t"},
    ("semi_recursive", "point_motion_derivatives"): {"q": "x_tip_x v_tip_y a_mark_z"},
    ("semi_recursive_rtdyn0", TORQUES): {"q": SEMI, "qd": SEMI_RATES},
    ("semi_recursive_rtdyn0", BY_PARAMETERS): {"parameters": SEMI_PARAMETERS},
    ("semi_recursive_rtdyn1", TORQUES): SEMI_TORQUES,
    ("semi_recursive_rtdyn1", BY_PARAMETERS): {"parameters": f"{SEMI_PARAMETERS} c h mc t"},
}  # fmt: skip
"""By formulation and function: lines that have derivatives, without their numbers."""
LONG = {("kane", OF_ACCELERATIONS), ("semi_recursive", BY_PARAMETERS), ("semi_recursive", TORQUES)}
SHORT = [case for case in KINDS if case not in LONG and "_rtdyn" not in case[0]]

robot = cache(every_kind)


def head(line):
    """``Q_I`` of ``Q_I_2_f_x``."""
    return re.sub(r"_\d+(_|$).*", "", line)


@pytest.mark.parametrize(("formulation", "function"), some_slow(KINDS, SHORT))
def test_each_line_is_the_derivative_that_its_name_says(formulation, function):
    description, names = robot()
    state = state_of(description, 1)
    runtime = names if "parameters" in KINDS[formulation, function] else ()
    tree = build_tree(description, Graph(), runtime)
    program = derive(tree, formulation_named(formulation), function)
    parameters = description.parameter_values
    given = state, {name: parameters[name] for name in runtime} or parameters
    values = values_of(program, *given)
    for by, heads in KINDS[formulation, function].items():
        entries = runtime or [f"{by}_{k + 1}" for k in range(len(state[by]))]
        lines = compared(values, slopes_of(program, *given, by), entries)
        assert set(map(head, lines)) >= set(heads.split())


def test_every_parameter_of_that_robot_matters():
    description, runtime = robot()
    torques = Implicit(description, 1, runtime)
    assert (abs(torques.forward("parameters")).max(axis=0) > 1e-6).all()
    assert torques.prescribed.nonzero()[0].tolist() == [1, 5, 7] and torques.n == 9


def test_a_symmetric_matrix_by_the_entries_on_one_side():
    rows = [[1, 2], [3, 4]]
    assert [_mirrored(rows, pick) for pick in ((min, max), (max, min))] == [
        [[1, 2], [2, 4]], [[1, 3], [3, 4]]
    ]  # fmt: skip
