"""Kernels for several samples at once: every width, any number of samples and threads."""

import copy
import ctypes
import pickle
import sys
from pathlib import Path
from unittest import mock

import mpmath
import numpy as np
import pytest

from benchmarks.models import spatial_tree
from symgen.emit.templates import Templates
from symgen.options import BuildOptions
from symgen.toolchain.compiler import AVX2, AVX512, find_compiler
from symgen.toolchain.loading import load_package
from symgen.toolchain.processes import Processes
from tests.choosing import slow, some_slow
from tests.emit.building import build_versions
from tests.oracles.comparison import agrees
from tests.safety.building import bundle_of, python
from tests.support.commands import printed_by

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FUNCTIONS = (
    "inverse_dynamics", "inverse_dynamics_derivatives", "mass_matrix", "kinetic_energy",
    "forward_dynamics",
)  # fmt: skip
SIZES = (0, 1, 2, 7, 8, 9, 15, 16, 17, 1003)
OPTIONS = {1: (), 2: (), 4: AVX2, 8: AVX512}


def runs(width):
    """Whether this processor has vectors of so many numbers."""
    needed = {4: {"avx2", "fma", "bmi2"}, 8: {"avx512f", "avx512dq", "avx512vl"}}
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return width < 4
    flags = next((set(line.split()) for line in lines if line.startswith("flags")), set())
    return needed.get(width, set()) <= flags


WIDTHS = [
    pytest.param(width, marks=pytest.mark.skipif(not runs(width), reason="not on this processor"))
    for width in (1, 2, 4, 8)
]

WAVES = """
#include "symgen-real.h"
void waves(int count, const double *x, double *s, double *c)
{
#if SYMGEN_WIDTH == 1
    for (int i = 0; i < count; i += 8) {
        const double *a = x + i;
        const lanes angles[] = {OCTET(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7])};
        sines_and_cosines(8, angles, s + i, c + i);
    }
#else
    for (int i = 0; i < count; i += LANES) {
        real angle, sine, cosine;
        memcpy(&angle, x + i, sizeof angle);
        sines_and_cosines(1, &angle, &sine, &cosine);
        memcpy(s + i, &sine, sizeof sine);
        memcpy(c + i, &cosine, sizeof cosine);
    }
#endif
}
"""


@pytest.fixture(scope="module", params=WIDTHS)
def waves(request, tmp_path_factory):
    """Sines and cosines of symgen-real.h at one width."""
    folder, width = tmp_path_factory.mktemp("waves"), request.param
    compiler = find_compiler()
    (folder / "symgen-real.h").write_text(Templates().source("c/symgen-real.h"))
    (folder / "waves.c").write_text(WAVES)
    more = (*OPTIONS[width], f"-DSYMGEN_WIDTH={width}")
    with Processes() as processes:
        for command in (
            compiler.compile_command("waves.c", "waves.o", flags="portable", more=more),
            compiler.link_command(["waves.o"], "waves.so"),
        ):
            done = processes.run(command, cwd=folder)
            assert done.status == 0, done.output
    function = ctypes.CDLL(str(folder / "waves.so")).waves

    def call(x):
        room = -(-len(x) // 8) * 8
        angles, s, c = np.zeros((3, room))
        angles[: len(x)] = x
        pointers = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (angles, s, c)]
        function(room, *pointers)
        return s[: len(x)], c[: len(x)]

    return call


def ulps(values, exact):
    return max(
        float(abs(mpmath.mpf(float(value)) - wanted)) / np.spacing(abs(float(wanted)))
        for value, wanted in zip(values, exact, strict=True)
    )


def test_sines_and_cosines_to_two_units_in_the_last_place(waves):
    rng = np.random.default_rng(0)
    turns = rng.integers(-1_000_000, 1_000_000, 1000)
    near, far = rng.uniform(-4, 4, 1000), rng.uniform(-1.6e6, 1.6e6, 1000)
    x = np.concatenate([near, far, turns * (np.pi / 2), [0.0, -0.0]])
    sines, cosines = waves(x)
    with mpmath.workprec(200):
        angles = [mpmath.mpf(float(value)) for value in x]
        assert ulps(sines, [mpmath.sin(angle) for angle in angles]) <= 2.0
        assert ulps(cosines, [mpmath.cos(angle) for angle in angles]) <= 2.0


def test_far_and_infinite_angles_are_those_of_the_c_library(waves):
    x = np.array([1e300, 1e7, -3e9, 0.5, np.inf, np.nan, 1.0])
    sines, cosines = waves(x)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(sines, np.sin(x), rtol=4e-16, atol=0.0)
        np.testing.assert_allclose(cosines, np.cos(x), rtol=4e-16, atol=0.0)


def tree(folder, parents=(0, 1, 1, 0)):
    path = folder / "tree.yaml"
    loads = "loads: [{name: inner, link: j1}, {name: tip, link: j3, point: [0.1, 0.2, 0.3]}]\n"
    path.write_text(spatial_tree(parents, "tree") + loads)
    return path


@pytest.fixture(scope="module", params=slow("every width"))
def modules(tmp_path_factory):
    """A tree and its loads, by width; each width has a module of its own."""
    options = BuildOptions(formulations=("newton_euler",), functions=FUNCTIONS)
    bundle = bundle_of(tree(tmp_path_factory.mktemp("tree")), options, ("compiled", "numpy"))
    found = {}
    for width in (1, 2, 4, 8):
        if not runs(width):
            continue
        out = tmp_path_factory.mktemp(f"width{width}")
        module = build_versions(bundle, out, "baseline" if width == 2 else "portable")
        assert module.backends["compiled"].choose(width) == width
        found[width] = module
    return found


def states(module, *batch):
    rng = np.random.default_rng(1)
    shapes = {"q": (module.n,), "qd": (module.n,), "qdd": (module.n,)}
    return {name: rng.uniform(-2.0, 2.0, (*batch, *shape)) for name, shape in shapes.items()}


def called(functions, name, state, **more):
    of_q, of_q_and_qd = ("mass_matrix", "forward_kinematics"), ("coriolis_matrix", "kinetic_energy")
    taken = 1 if name in of_q else 2 if name in of_q_and_qd else 3
    multipliers = [state["qd"]] if name == "inverse_dynamics_hessian" else []
    result = getattr(functions, name)(*list(state.values())[:taken], *multipliers, **more)
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_width_and_number_of_samples(modules, name):
    for width, module in modules.items():
        plain = module.backends["numpy"].newton_euler
        for size in SIZES:
            state = states(module, size)
            for value, wanted in zip(
                called(module, name, state), called(plain, name, state), strict=True
            ):
                assert agrees(value, wanted, 1e-12), (width, size)


@pytest.fixture
def widest(modules):
    module = modules[max(modules)]
    before = module.threads
    yield module
    module.threads = before


def test_threads_are_a_number(widest):
    for wrong, error in ((0, ValueError), (-1, ValueError), (2.0, TypeError), (True, TypeError)):
        with pytest.raises(error, match="threads"):
            widest.threads = wrong


def test_result_memory_is_a_number(widest):
    for wrong, error in ((-1, ValueError), (2.0, TypeError), (True, TypeError), ("1", TypeError)):
        with pytest.raises(error, match="result_memory"):
            widest.result_memory = wrong
    widest.result_memory = np.int64(5)
    assert widest.result_memory == 5
    widest.result_memory = 10**30
    assert widest.result_memory >= 2**60
    with mock.patch.object(widest, "result_memory", 0):
        assert widest.result_memory == 0
    del widest.result_memory
    assert widest.result_memory <= 2**30


@pytest.mark.parametrize(("variable", "text", "says"), [
    ("SYMGEN_WIDTH", "3", "expected 1, 2, 4 or 8"),
    ("SYMGEN_WIDTH", "wide", "expected 1, 2, 4 or 8"),
    ("SYMGEN_THREADS", "0", "expected a number of threads"),
    ("SYMGEN_RESULT_MEMORY", "1 GB", "expected a number of bytes"),
])  # fmt: skip
def test_wrong_variables_are_refused(modules, monkeypatch, variable, text, says):
    folder = Path(str(modules[1].__file__)).parent
    monkeypatch.setenv(variable, text)
    with pytest.raises(ValueError, match=says):
        load_package(folder)


def test_the_width_can_be_forced(modules, monkeypatch):
    folder = Path(str(modules[1].__file__)).parent
    monkeypatch.setenv("SYMGEN_WIDTH", "1")
    monkeypatch.setenv("SYMGEN_THREADS", "3")
    module = load_package(folder)
    assert module.threads == 3
    state = states(module, 9)
    single = [module.inverse_dynamics(*(x[i] for x in state.values())) for i in range(9)]
    np.testing.assert_array_equal(module.inverse_dynamics(*state.values()), single)


@pytest.mark.parametrize("name", ["inverse_dynamics_derivatives", "mass_matrix"])
def test_packed_results_hold_the_related_pairs(modules, name):
    for width, module in modules.items():
        related = module.derivative_sparsity
        for size in SIZES:
            state = states(module, size)
            dense = called(module, name, state)
            packed = called(module, name, state, packed=True)
            out = tuple(np.full_like(x, np.nan) for x in packed)
            called(module, name, state, packed=True, out=out if len(out) > 1 else out[0])
            strided = {key: np.repeat(x, 2, axis=0)[::2] for key, x in state.items()}
            for value, all_of_it, again, other in zip(
                packed, dense, out, called(module, name, strided, packed=True), strict=True
            ):
                square = all_of_it.ndim == 3
                wanted = all_of_it[..., related] if square else all_of_it
                assert value.shape == wanted.shape, (width, size)
                np.testing.assert_array_equal(value, wanted)
                np.testing.assert_array_equal(again, wanted)
                np.testing.assert_array_equal(other, wanted)
                assert not square or not all_of_it[..., ~related].any()


def test_the_module_is_one_like_any_other(widest):
    assert pickle.loads(pickle.dumps(widest)) is widest and copy.deepcopy(widest) is widest
    assert {"threads", "result_memory"} <= set(dir(widest))
    widest.threads = np.int64(3)
    assert widest.threads == 3
    with mock.patch.object(widest, "threads", 2):
        assert widest.threads == 2
    del widest.threads
    assert widest.threads >= 1


WITHOUT_KEYS = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
library = ctypes.CDLL(None)
while not library.pthread_key_create(ctypes.byref(ctypes.c_uint()), None):
    pass
import numpy as np
import symgen.toolchain.loading as loading
module = loading.load_package(sys.argv[1])
q = np.ones((1000, module.n))
wanted = module.backends["numpy"].newton_euler.mass_matrix(q)
assert np.allclose(module.mass_matrix(q), wanted, rtol=1e-12, atol=1e-12)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="as many keys as Linux has")
def test_a_process_without_keys_for_threads(modules):
    folder = Path(str(modules[max(modules)].__file__)).parent
    done = python("-c", WITHOUT_KEYS, str(folder))
    assert done.returncode == 0, done.stderr


AVX512_HERE = (*AVX2, "-mavx512f", "-mavx512dq", "-mavx512vl")

STREAMS = r"""
#define MOST_ARRAYS 2
#include <stdio.h>
#include <string.h>
#include "symgen-rows.h"

enum { LONGEST = 340, ROWS = 3 * LANES + 3, ALL = LONGEST * ROWS + 2 * LINE };

static int length, reversed[LONGEST];
static int copied(const real **x, real **y)
{
    for (int i = 0; i < length; ++i) y[0][i] = y[1][i] = x[0][i];
    return 0;
}

int main(void)
{
    static double x[ALL], stored[2][ALL], streamed[2][ALL];
    static char room[(3 * LONGEST + 2) * sizeof(real)];
    long compared = 0;
    for (int i = 0; i < ALL; ++i) x[i] = i + 0.25;
    for (length = 1; length < LONGEST; ++length) {
        for (int i = 0; i < length; ++i) reversed[i] = length - 1 - i;
        for (int from = 0; from < LINE; ++from)
            for (int rows = 0; rows <= ROWS; rows += rows < LANES + 1 ? 1 : LANES - 1) {
                const struct kernel f = {copied, 1, 2, {length}, {length, length},
                                         {length, length}, {0, reversed}};
                const double *const in[] = {x};
                const ptrdiff_t dx[] = {length};
                for (int i = 0; i < ALL; ++i)
                    stored[0][i] = stored[1][i] = streamed[0][i] = streamed[1][i] = -1.0;
                double *const a[] = {stored[0] + from, stored[1] + (from + 3) % LINE};
                double *const b[] = {streamed[0] + from, streamed[1] + (from + 3) % LINE};
                const ptrdiff_t some = rows / 2 / LANES * LANES;  /* as threads share it */
                compute_samples(&f, 0, rows, in, dx, a, room, 0);
                compute_samples(&f, some, rows, in, dx, b, room, 1);
                compute_samples(&f, 0, some, in, dx, b, room, 1);
                if (memcmp(stored, streamed, sizeof stored)) {
                    printf("length %d, from %d, %d rows\n", length, from, rows);
                    return 1;
                }
                for (int i = 0; i < length * rows; ++i)
                    if (a[0][i] != x[i]) return 2;
                ++compared;
            }
    }
    printf("%ld compared, streams: %d\n", compared, CAN_STREAM);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("width", "options"),
    some_slow([(2, ()), (4, AVX2), (8, AVX512_HERE), (8, AVX2), (8, ())], [(2, ())]),
    ids=["SSE2", "AVX2", "AVX-512", "8 by AVX2", "8 by SSE2"],
)
def test_streams_are_what_is_stored(width, options, tmp_path):
    """A kernel that copies its argument, of every length, in rows that begin anywhere in a line."""
    if options and not runs(8 if options == AVX512_HERE else 4):
        pytest.skip("this processor has no such instructions")
    (tmp_path / "program.c").write_text(STREAMS)
    program = str(tmp_path / "program")
    flags = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-Wno-unused-function")
    command = [*find_compiler().command, *flags, *options, f"-DSYMGEN_WIDTH={width}"]
    command += ["-DSYMGEN_VARIANT=tried", f"-I{EXAMPLES.parent / 'templates' / 'c'}"]
    printed_by(*command, tmp_path / "program.c", "-o", program, "-lm")
    assert "compared" in printed_by(program)
