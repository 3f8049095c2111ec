"""The JSON schema of model files: it accepts what is right, and marks what the reader refuses."""

import copy
import json
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from symgen.cli import run
from symgen.converting.starter import starter_text
from symgen.description.names import illegal_name
from symgen.description.schema import RobotTable, json_schema

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
TENSOR = {"xx", "yy", "zz", "xy", "xz", "yz"}
SCHEMA = json_schema()
CHECK = jsonschema.Draft7Validator(SCHEMA)


def parsed(text):
    return YAML(typ="safe").load(text)


def test_it_is_a_schema_that_examples_and_the_starter_fit():
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    for text in (starter_text("arm", "arm.yaml"), *(path.read_text() for path in EXAMPLES)):
        CHECK.validate(parsed(text))


MISTAKES = {
    "unknown key": lambda robot: robot.update(joint=[]),
    "unknown key of a joint": lambda robot: robot["joints"][0].update(lenght=1),
    "missing name": lambda robot: robot.pop("name"),
    "missing type": lambda robot: robot["joints"][0].pop("type"),
    "another version": lambda robot: robot.update(symgen=2),
    "a type that is none": lambda robot: robot["joints"][0].update(type="hinge"),
    "a convention that is none": lambda robot: robot.update(convention="craig"),
    "two numbers": lambda robot: robot["joints"][0]["link"].update(com=[0, 1]),
    "four numbers": lambda robot: robot.update(gravity=[0, 0, 0, -9.81]),
    "a list for a number": lambda robot: robot["joints"][0]["link"].update(mass=[1]),
    "a mapping for a list": lambda robot: robot.update(loads={"name": "tip"}),
    "a name that is none": lambda robot: robot.update(name="2dof"),
    "a parameter without a value": lambda robot: robot["parameters"].update(k={"unit": "m"}),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_marked(mistake):
    robot = copy.deepcopy(parsed(EXAMPLES[-1].read_text()))
    CHECK.validate(robot)
    mistake(robot)
    assert list(CHECK.iter_errors(robot))


@pytest.mark.parametrize("name", ["a", "A_1", "a" * 64, "a" * 65, "1a", "_a", "a b", "", "é"])
def test_names_are_those_of_the_checks(name):
    fits = CHECK.is_valid({"symgen": 1, "name": name})
    assert fits == (illegal_name(name) is None)


def test_every_key_is_explained():
    tables = [SCHEMA, *SCHEMA["$defs"].values()]
    for table in tables:
        table = table["anyOf"][-1] if "anyOf" in table else table
        for key, entry in table["properties"].items():
            assert "$ref" in entry or entry.get("description") or key in TENSOR, key
    assert set(SCHEMA["properties"]) == set(RobotTable.all_keys())


def test_it_is_printed(capfd):
    assert run(["schema"]) == 0
    assert json.loads(capfd.readouterr().out) == SCHEMA
