"""All robots of the package `example-robot-data` against Pinocchio's own reading of them.

The package (131 MB) is an extra of its own: pip install 'symgen[test-robots]'."""

import functools
import importlib.metadata
from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.converting.conversion import model_text
from symgen.description.checks import check, read_document
from symgen.description.reading import decode
from symgen.errors import ModelError
from symgen.options import ReadOptions
from tests.choosing import deep, one_in
from tests.description.foreign.test_urdf import compare_with_pinocchio, torques

REFUSED = {
    "ur3": "needs at least one <link>",  # what remained of a xacro file
    "alex_psyonic_hands": "there is no <joint> named 'index_q1'",  # nor others that it mimics
}
"""Files that are wrong, and what is said of them."""

FOLLOWERS = {
    "baxter": 2, "panda": 1, "panda_collision": 1, "pr2": 10, "romeo": 22, "talos_full_v2": 12,
    "talos_full_v2_box": 12, "tiago_pro": 10,
}  # fmt: skip
"""Robots with joints that follow others, and how many of those move."""


@functools.cache
def robots(ending=".urdf"):
    """Every URDF file of the package, or every SDF file."""
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        return ()
    return tuple(sorted(Path(file.locate()) for file in files if file.name.endswith(ending)))


def named(path):
    return f"{path.parts[-3]}/{path.stem}"


needs_robots = pytest.mark.skipif(
    not robots(), reason="needs example-robot-data: pip install 'symgen[test-robots]'"
)


@needs_robots
@pytest.mark.parametrize("floating_base", [False, *deep(True)], ids=["fixed", "floating"])
@pytest.mark.parametrize("path", one_in(24, robots()), ids=named)
@pytest.mark.slow
def test_every_robot_is_read_as_pinocchio_reads_it(path, floating_base):
    if path.stem in REFUSED:
        with pytest.raises(ModelError) as caught:
            read_document(path, ReadOptions(floating_base=floating_base))
        assert REFUSED[path.stem] in str(caught.value)
        return
    document = read_document(path, ReadOptions(floating_base=floating_base))
    converted = check(decode(model_text(document).encode(), "converted.yaml"))
    found = [(x.name, x.mimic) for x in converted.joints]
    assert found == [(x.name, x.mimic) for x in check(document).joints]
    assert sum(mimic is not None for _, mimic in found) == FOLLOWERS.get(path.stem, 0)
    text = path.read_text(encoding="utf-8")
    compare_with_pinocchio(path, text, floating_base, samples=1, masses=False)


@needs_robots
def test_cassie_is_read_as_an_open_tree():
    found = {
        path.stem: len(symgen.read(path, without_loops=True).coordinate_names)
        for path in robots(".sdf")
    }
    assert found == {
        "cassie": 38, "cassie_reduced": 23, "cassie_simple": 27, "cassie_v2": 22,
        "cassie_wo_gearbox_spring": 27,
    }  # fmt: skip


@needs_robots
def test_ur5_has_the_torques_that_were_published():
    (path,) = [path for path in robots() if path.stem == "ur5_robot"]
    description = check(read_document(path))
    q = 0.1 * np.arange(1, 7)
    tau = torques(description, q, np.full(6, 0.2), np.full(6, 0.3))
    expected = [
        1.0403534046, -54.513479697, -12.817983141, 0.35675218832, 0.058066853683, 0.013119725521,
    ]  # fmt: skip
    np.testing.assert_allclose(tau, expected, rtol=5e-11)
