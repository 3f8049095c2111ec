"""SciPy's trust-constr: the optima of IPOPT, where CasADi is missing, too."""

import os
import signal
import sys

import numpy as np
import pytest

import symgen
from symgen.cli import run
from tests.planning.robots import EXAMPLES, NEEDED, TASK, example

PLAN = EXAMPLES / "plan"
FASTEST = (PLAN / "two_link_free.yaml", PLAN / "two_link_fastest.yaml")
SHORT = {**TASK, "profile": {"segments": 5}}


@pytest.mark.slow
def test_both_solvers_find_the_same_refined_motion(robot):
    pytest.importorskip("casadi", reason="needs casadi: pip install 'symgen[test]'")
    other = symgen.plan(robot, SHORT, solver="ipopt")
    found = symgen.plan(robot, SHORT, solver="trust-constr")
    assert found.status == other.status == "solved"
    assert found.violation < 1e-6
    assert np.allclose(found.control_points, other.control_points, atol=1e-4)
    assert abs(found.T - other.T) < 1e-6


@pytest.mark.deep
def test_trust_constr_names_what_cannot_be_met(robot):
    found = symgen.plan(robot, {**SHORT, "time": 0.05}, solver="trust-constr")
    assert found.status == "infeasible"
    assert any("velocity of shoulder" in remark for remark in found.remarks)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ipopt", "trust-constr"])
def test_an_interrupted_search_returns_the_best_so_far(robot, solver):
    pytest.importorskip("casadi", reason="needs casadi: pip install 'symgen[test]'")

    def interrupt(_stage, step):
        if step.number == 5:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    try:
        found = symgen.plan(robot, SHORT, solver=solver, progress=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.status == "stopped"
    assert found.iterations <= 8


@pytest.mark.slow
def test_without_casadi_scipy_solves(monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "casadi", None)
    arguments = ["plan", *map(str, FASTEST)]
    assert run(arguments) == 0
    said = capfd.readouterr().out
    assert said.startswith("exceeded") and "0.39265" in said
    assert run([*arguments, "--solver", "ipopt"]) == 2
    assert "pip install " in capfd.readouterr().err


def test_without_scipy_it_says_what_to_install(monkeypatch, capfd):
    robot = example("two_link", NEEDED)
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(symgen.errors.RequestError, match=r"pip install .symgen\[plan\]"):
        symgen.plan(robot, SHORT)
    assert run(["plan", *map(str, FASTEST)]) == 2
    assert "pip install " in capfd.readouterr().err
    monkeypatch.undo()
    with pytest.raises(symgen.errors.RequestError, match="limited memory is a choice of ipopt"):
        symgen.plan(robot, SHORT, solver="trust-constr", exact_hessian=False)
    with pytest.raises(symgen.errors.RequestError, match="expected ipopt or trust-constr"):
        symgen.plan(robot, SHORT, solver="snopt")
