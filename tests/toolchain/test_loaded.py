"""Modules of `symgen.load` in pickles: the right robot in every process, or a message."""

import pickle
import random
import subprocess
import sys
import time
from multiprocessing import get_context

import numpy as np
import pytest

import symgen
from symgen import loaded
from tests.safety.building import python
from tests.toolchain.sample import REPLACING, install

pytestmark = pytest.mark.slow

ARM = """
symgen: 1
name: arm
convention: standard
joints:
  - {name: a, type: revolute, dh: {a: 1, alpha: 1}, link: {mass: MASS, com: [0.1, 0.2, 0]}}
"""
OPTIONS = {"functions": "inverse_dynamics,mass_matrix", "formulations": "composite"}
STATE = ([0.1], [0.2], [0.3])


def arms(folder):
    for mass in (1.0, 2.0):
        path = folder / f"arm_{mass}.yaml"
        path.write_text(ARM.replace("MASS", str(mass)))
        yield symgen.load(path, backend="numpy", **OPTIONS)


@pytest.fixture
def two(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMGEN_CACHE_DIR", str(tmp_path / "cache"))
    return tuple(arms(tmp_path))


def test_a_process_that_never_loaded_the_robot_finds_its_build(two):
    with get_context("spawn").Pool(1) as pool:
        for module in reversed(two):
            for function in (module.inverse_dynamics, module.composite.inverse_dynamics):
                found = pool.apply(function, STATE)
                np.testing.assert_array_equal(found, module.inverse_dynamics(*STATE))
    light, heavy = (m.inverse_dynamics(*STATE) for m in two)
    assert heavy / light == pytest.approx(2.0)


def test_the_same_build_is_the_same_module(two, tmp_path):
    again = tuple(arms(tmp_path))
    assert all(one is other for one, other in zip(two, again, strict=True))
    assert pickle.loads(pickle.dumps(two[1].mass_matrix)) is two[1].mass_matrix
    assert pickle.loads(pickle.dumps(two[1])) is two[1]


def test_a_package_is_loaded_whole_while_it_is_replaced(tmp_path):
    target = tmp_path / "sample"
    install(target, 0.0)
    generator = random.Random(5)
    command = [sys.executable, "-B", "-c", REPLACING, str(target), "0.0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        found = set()
        try:
            while len(found) < 8:
                time.sleep(generator.uniform(0.0, 0.05))
                found.add(loaded.load(target).FACTOR)  # asserts that its parts belong together
        finally:
            process.kill()


def test_a_build_that_is_gone_is_refused_with_what_to_do(two, tmp_path):
    data = pickle.dumps(two[0].inverse_dynamics)
    code = "import pickle, sys; pickle.loads(bytes.fromhex(sys.argv[1]))"
    done = python("-c", code, data.hex(), environment={"SYMGEN_CACHE_DIR": str(tmp_path / "other")})
    assert "ModuleNotFoundError: a pickle needs a build of arm" in done.stderr
    assert "symgen build MODEL --install" in done.stderr
