"""The reference has every command, option, key, function and name; nothing in it is out of date."""

import importlib
import re

import pytest

import symgen
from manual import commands, module, notation, python
from manual.tables import DOCS, filled
from symgen.cli import cli
from symgen.formulations import FORMULATIONS
from symgen.program.functions import FUNCTIONS
from symgen.robot.records import record_fields
from tests.modules import ROOT


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_and_option(name):
    section = commands.section(name)
    assert f"## symgen {name}" in commands.markdown()
    for parameter in cli.commands[name].params:
        if parameter.param_type_name == "option":
            assert all(option in section for option in (*parameter.opts, *parameter.secondary_opts))
        else:
            assert (parameter.metavar or parameter.name.upper()) in section


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_every_function(function):
    text = module.functions()
    section = text[text.index(f"## {function.name}\n") :].split("\n## ")[0]
    assert f"{function.name}(" in section and "\nBy: `" in section
    results = record_fields(function.record) or [array.name for array in function.results]
    names = [array.name for array in (*function.arguments, *function.options)]
    assert all(f"| `{name}` |" in section for name in (*names, *results))


def test_everything_else_that_a_module_has():
    robot = importlib.import_module("generated.two_link")
    named = {name.removesuffix("()") for names in module.METADATA for name in names.split(", ")}
    public = {name for name in dir(robot) if not name.startswith("_")}
    assert public - set(robot.functions) - set(robot.formulations) == named


def test_everything_that_symgen_offers():
    text = python.markdown()
    assert all(f"## symgen.{name}\n" in text for name in symgen.__all__ if name != "__version__")
    signatures = re.findall(r"```python\n(.*?)\n```", text)
    assert (
        "symgen.load(path: str | Path, *, progress: Progress | None = None, "
        "**options: Unpack[LoadOptions]) -> Robot"
    ) in signatures
    assert any(x.startswith("symgen.read(path: str | Path, *, ") for x in signatures)
    assert not any(" at 0x" in signature for signature in signatures)


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_tables_are_those_of_the_code(page):
    """``python -m manual.tables`` writes them."""
    text = page.read_text(encoding="utf-8")
    assert filled(text) == text


THEORY = "".join(page.read_text() for page in (ROOT / "docs" / "theory").glob("*.md"))
SHOWN = filled("\n".join(re.findall(r"^<!-- equations: .+ -->$", THEORY, re.MULTILINE)))


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda formulation: formulation.name)
def test_every_equation_of_every_formulation(formulation):
    assert f"| `{formulation.name}` |" in notation.overview()
    labels = {label.replace("-", "\N{NON-BREAKING HYPHEN}") for label in formulation.notes}
    assert {label for label in labels if f"| `{label}` |" not in SHOWN} == set()


def test_derivatives_by_parameters_are_explained_with_their_indices():
    meanings = {x.name: x.meaning for function in FUNCTIONS for x in function.results}
    assert meanings["dV_dparameters"] == "[k] = d potential_energy / d parameters[k]"
    assert meanings["dx_dparameters"] == "[i, j, k] = d position[i, j] / d parameters[k]"
