"""Kernels in loops: every width, every vector of joints, trees of all shapes."""

import functools
import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import symgen
from benchmarks.models import spatial_tree
from symgen.deriving.derivation import derive_all, derived_program
from symgen.deriving.packaging import package_of
from symgen.deriving.selection import select
from symgen.emit.emission import emit
from symgen.errors import RequestError
from symgen.formulations.composite import COMPOSITE
from symgen.options import BuildOptions
from symgen.toolchain import compiler
from symgen.toolchain.compiler import AVX2, Version
from symgen.validation.evaluated import EvaluatedFormulation
from tests.choosing import deep, slow
from tests.emit.building import build, build_versions
from tests.emit.test_versions import EXAMPLES, called, runs, states
from tests.modules import described, module
from tests.oracles.comparison import agrees

FUNCTIONS = (
    "inverse_dynamics_derivatives", "inverse_dynamics_hessian", "mass_matrix", "coriolis_matrix",
    "forward_dynamics_derivatives", "joint_wrench_derivatives", "regressor",
)  # fmt: skip
FEW = ("inverse_dynamics_derivatives", "regressor")
OF_BUSH = (
    "inverse_dynamics_derivatives", "mass_matrix", "coriolis_matrix", "joint_wrench_derivatives",
)  # fmt: skip
SIZES = (0, 1, 2, 7, 8, 9, 65)
TREES = {
    "chain": [*range(9)],
    "star": [0] * 9, "bush": [0, 1, 1, 2, 2, 3, 3, 0, 8, 8, 5],
    "twins": [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    "pair": [0, 0, 1, 2, 3, 4, 5, 6], "comb": [0, 1, 1, 3, 3, 5, 5, 7, 7, 9],
}  # fmt: skip
LANES_OF_8 = (*AVX2, "-D__AVX512F__", "-DSYMGEN_WITHOUT_STREAMS", "-Wno-psabi")
"""Vectors of eight numbers made of two of four: what AVX-512 does, on processors without it."""

LOADS = "loads: [{name: inner, link: j3}, {name: tip, link: j11, point: [0.1, 0.2, 0.3]}]\n"


@functools.cache
def description_of(name):
    if name not in TREES:
        return symgen.read(EXAMPLES / f"{name}.yaml")
    return described(spatial_tree(TREES[name], name) + (LOADS if name == "bush" else ""))


def functions_of(name):
    return FEW if name in ("two_link", "chain") else FUNCTIONS


@functools.cache
def straight(name):
    description = description_of(name)
    return EvaluatedFormulation(
        {f: derived_program(description, COMPOSITE, f) for f in functions_of(name)}
    )


@functools.cache
def package(name, form, functions=FUNCTIONS):
    """Without the formulations that a build would evaluate."""
    description = description_of(name)
    options = BuildOptions(functions=functions, formulations=("composite",))
    selection = replace(select(description, options), evaluated={})
    return package_of(description, derive_all(description, selection, form=form))


def built(name, folder, flags="portable", form="loops", functions=FUNCTIONS):
    return build_versions(emit(package(name, form, functions), ("compiled",)), folder, flags)


def hold(module, sizes, functions=FUNCTIONS):
    for name in functions:
        for size in sizes:
            state = states(module, size)
            wanted = called(straight(module.name), name, state)
            for value, reference in zip(called(module, name, state), wanted, strict=True):
                assert agrees(value, reference), (name, size)
            for row in range(min(size, 3)):
                alone = called(module, name, {key: x[row] for key, x in state.items()})
                for value, reference in zip(alone, wanted, strict=True):
                    assert agrees(value, reference[row]), name


@pytest.fixture
def poisoned(monkeypatch):
    """What was not written is large, where the compiler can do that: whoever reads it is wrong."""
    flag = "-ftrivial-auto-var-init=pattern"  # gcc 12, clang 16
    found = compiler.find_compiler().command
    asked = [*found, flag, "-fsyntax-only", "-x", "c", os.devnull]
    if subprocess.run(asked, capture_output=True, check=False).returncode == 0:
        monkeypatch.setenv("CC", shlex.join([*found, flag]))


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("name", [*slow("two_link"), *deep("bush", "tree12")])
def test_every_width(name, tmp_path):
    functions = functions_of(name)
    module = built(name, tmp_path, functions=functions)
    for width in (1, 4, 8):
        if module.backends["compiled"].choose(width):
            hold(module, SIZES, functions)


@pytest.mark.skipif(not runs(4), reason="not on this processor")
@pytest.mark.parametrize("name", deep("chain", "bush", "comb"))
def test_vectors_of_eight_joints(name, tmp_path, monkeypatch):
    functions = functions_of(name)
    versions = (Version(1, "avx2", LANES_OF_8), Version(8, "avx2", LANES_OF_8))
    monkeypatch.setattr(compiler, "PORTABLE_VERSIONS", {"__x86_64__": versions})
    module = built(name, tmp_path, functions=functions)
    assert module.backends["compiled"].choose(8) == 8
    hold(module, SIZES, functions)


@pytest.fixture(scope="module", params=deep("bush"))
def bush(request, tmp_path_factory):
    """The compiled module of a tree with loads, in loops."""
    return built(request.param, tmp_path_factory.mktemp("bush"), functions=OF_BUSH)


def test_nothing_is_written_beyond_the_results(bush):
    for size in (1, 3, 8):
        state = states(bush, size)
        for function in OF_BUSH:
            shapes = [x.shape for x in called(bush, function, state)]
            rooms = [np.full((size + 2, *shape[1:]), 7.0) for shape in shapes]
            out = tuple(room[1 : 1 + size] for room in rooms)
            called(bush, function, state, out=out if len(out) > 1 else out[0])
            one = tuple(room[1] for room in rooms)
            first = {key: x[0] for key, x in state.items()}
            called(bush, function, first, out=one if len(one) > 1 else one[0])
            for room in rooms:
                assert (room[0] == 7.0).all() and (room[-1] == 7.0).all()


def related(parents):
    """Positions in a square array of joints of which one carries, or is, the other."""
    paths = [set()]
    for joint, parent in enumerate(parents, start=1):
        paths.append({*paths[parent], joint})
    joints = range(1, len(parents) + 1)
    pairs = [(i, k) for i in joints for k in joints if i in paths[k] or k in paths[i]]
    return [(i - 1) * len(parents) + k - 1 for i, k in pairs]


def test_loads_act_on_wrenches(bush):
    name = "joint_wrench_derivatives"
    program = derived_program(description_of("bush"), COMPOSITE, name)
    line = EvaluatedFormulation({name: program})
    rng = np.random.default_rng(3)
    for size in (1, 5):
        state = list(states(bush, size).values())
        loads = rng.uniform(-10.0, 10.0, (size, bush.n_loads, 6))
        wanted = line.joint_wrench_derivatives(*state, loads=loads)
        found = bush.joint_wrench_derivatives(*state, loads=loads)
        for value, reference in zip(found, wanted, strict=True):
            assert np.abs(value - reference).max() <= 1e-11 * np.abs(reference).max()


def test_packed_results_are_those_of_the_square_ones(bush):
    state = states(bush, 9)
    for name in ("inverse_dynamics_derivatives", "mass_matrix", "coriolis_matrix"):
        whole, packed = called(bush, name, state), called(bush, name, state, packed=True)
        for short, square in zip(packed, whole, strict=True):
            kept = square.reshape(9, -1)
            if square.ndim > 2:
                kept = kept[:, related(TREES["bush"])]
            np.testing.assert_array_equal(short, kept)


def test_what_takes_care_of_loops_is_left_out_where_there_are_none():
    loops, line = (emit(package("two_link", form, FEW)) for form in ("loops", "straight"))
    for bundle in (loops, line):
        (extension,) = bundle.extensions
        with_loops = {x for x in extension.c_sources if "symgen-loops.h" in bundle.files[x]}
        assert with_loops.isdisjoint(extension.straight)
        assert bool(with_loops) != bool(extension.straight)


def test_branches_have_the_values_of_the_straight_line(bush):
    hold(bush, (1, 9), OF_BUSH)


def test_a_robot_without_joints_has_nothing_to_loop_over():
    description = described(
        "symgen: 1\nname: post\njoints:\n"
        "  - {name: foot, type: fixed, parent: base, origin: {xyz: [0, 0, 1]}, link: {mass: 1}}\n"
    )
    selection = select(description, BuildOptions(functions=FUNCTIONS[:1]))
    derived = derive_all(description, replace(selection, evaluated={}), form="loops")
    assert {report.form for report in derived.reports} == {"straight"}


@pytest.mark.parametrize(
    "name", ["two_link", *slow("bush"), *deep("star", "pair", "comb", "twins")]
)
def test_numpy_in_loops(name, tmp_path):
    functions = functions_of(name)
    hold(build(package(name, "loops", functions), tmp_path, ("numpy",)), (0, 1, 3, 100), functions)


def test_numpy_in_loops_takes_complex_numbers_and_all_batch_axes(tmp_path):
    module = build(package("two_link", "loops", FEW), tmp_path, ("numpy",))
    q, qd, qdd = states(module, 6).values()
    given = {"q": (q + 0.1j * qd).reshape(2, 3, -1), "qd": qd[:3], "qdd": qdd[0]}
    whole = dict(zip(given, np.broadcast_arrays(*given.values()), strict=True))
    for name in FEW:
        found, wanted = called(module, name, given), called(straight("two_link"), name, whole)
        for value, reference in zip(found, wanted, strict=True):
            assert value.shape == reference.shape and value.dtype == complex
            assert np.abs(value - reference).max() <= 1e-11 * np.abs(reference).max()


@pytest.mark.slow
def test_the_form_is_an_option():
    with pytest.raises(RequestError, match="no form is called 'curved'"):
        BuildOptions(form="curved")
    model = EXAMPLES / "two_link.yaml"
    for form, header in (("straight", "symgen-real.h"), ("loops", "symgen-loops.h")):
        loaded = module(model, functions=FUNCTIONS[:1], formulations="composite", form=form)
        loops = Path(str(loaded.__file__)).parent / "_numpy" / "_loops.py"
        assert loops.exists() is (form == "loops")
        files = emit(package("two_link", form, FEW), ("compiled",)).files
        sources = [files[name] for name in files if name.startswith("c/two_link_composite")]
        assert all(f'#include "{header}"' in source for source in sources)
