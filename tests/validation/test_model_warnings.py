"""Warnings of a model file are those of all commands."""

import pytest

from symgen import page
from symgen.options import BuildOptions
from symgen.pipeline import building
from symgen.pipeline.build_plan import BuildPlan
from symgen.showing.equations import show
from symgen.support.journal import Journal
from symgen.validation.model_warnings import model_warnings
from tests.modules import EXAMPLES, described

COMMANDS = {
    "build": lambda path, journal: building.build(path, BuildOptions(backend="numpy"), journal),
    "tree": lambda path, journal: show(path, "tree", "pretty", None, None, journal),
    "report": lambda path, journal: page.write_report(path, None, True, None, journal),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_repeat_the_warnings_of_the_file(command, tmp_path, monkeypatch):
    """Also `build`, where nothing has changed."""
    text = (EXAMPLES / "mechanisms/four_bar.yaml").read_text()
    text = text.replace("crank: 1}", "crank: 1, coupler: 5}").replace("actuated: false", "", 1)
    path = tmp_path / "bar.yaml"
    path.write_text(text.replace("parent: base", "parent: base\n    limits: {upper: 90}", 1))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(BuildPlan, "is_up_to_date", lambda plan: True)
    monkeypatch.setattr(page, "report", lambda *arguments: "")
    journal = Journal()
    COMMANDS[command](path, journal)
    degrees, drives = journal.notices
    assert degrees.startswith("warning: ") and "if degrees are meant" in degrees
    assert "the loops do not close with the initial values" in drives and "coupler" in drives


def test_outputs_beside_euler_parameters_are_left_out():
    text = """symgen: 1
name: ball
joints:
  - name: a
    type: spherical
    coordinates: euler_parameters
    origin: {}
    link: {mass: 1, inertia: {}}
points: [{name: tip, link: a, point: [1, 0, 0]}]
outputs: {h: points.tip.z}
"""
    (warning,) = (x for x in model_warnings(described(text)) if "outputs.h" in x)
    assert "outputs are not computed yet beside 'coordinates: euler_parameters'" in warning
