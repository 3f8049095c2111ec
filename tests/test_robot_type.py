"""`symgen.Robot`, the type of modules: as the table of functions says, and as modules are."""

import inspect

import pytest

import symgen
from manual import robot_type
from symgen.program.functions import FUNCTIONS
from symgen.robot import Functions, Robot, TorqueParts
from tests import modules
from tests.choosing import slow


def test_it_is_written_from_the_table_of_functions():
    for name, wanted in robot_type.sources().items():
        written = (robot_type.FOLDER / name).read_text(encoding="utf-8")
        assert written == wanted, "python -m manual.robot_type"


@pytest.fixture(scope="module", params=slow("two_link"))
def module():
    return modules.module(modules.ROOT / "examples" / "two_link.yaml", functions="default")


def test_a_module_has_what_the_type_says(module):
    absent = {"partially_recursive_kane", "explicit_kane", "semi_recursive"}  # if named, or small
    for name in set(inspect.get_annotations(Robot)) - absent:
        assert hasattr(module, name), name
    own = {name for name in vars(Robot) if not name.startswith("_")} | {*dir(Functions)}
    public = {name for name in dir(module) if not name.startswith("_")}
    missing = {"branches", "branch_parents", "joint_branches", "junctions", "leaves"}  # of a paper
    assert public - own - set(inspect.get_annotations(Robot)) == missing


def test_signatures_are_those_of_modules(module):
    for function in FUNCTIONS:
        if hasattr(module, function.name):
            typed = inspect.signature(getattr(Functions, function.name)).parameters
            actual = inspect.signature(getattr(module, function.name)).parameters
            assert list(typed) == ["self", *actual], function.name
    parts = module.torque_parts(
        [0.1, 0.2], [1.0, -1.0], [0.5, 0.0], loads={"tip": [0, 1, 0, 0, 0, 0]}
    )
    assert parts._fields == TorqueParts._fields
    tau = module.inverse_dynamics([0.1, 0.2], [1.0, -1.0], [0.5, 0.0], loads=[[0, 1, 0, 0, 0, 0]])
    assert sum(parts) == pytest.approx(tau, rel=1e-14)


def test_what_symgen_offers():
    assert dir(symgen) == sorted([*symgen.__all__, "errors"])
    assert all(hasattr(symgen, name) for name in dir(symgen))
