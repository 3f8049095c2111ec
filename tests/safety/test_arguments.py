"""Whatever is given as an argument: a result, or an error that says what is wrong; no crash."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.emit.building import BACKENDS
from tests.safety.fences import Pages

ARGUMENTS = {"q": (2,), "qd": (2,), "qdd": (2,), "loads": (1, 6), "parameters": (2,)}
REQUIRED = ("q", "qd", "qdd")
EXPECTED = (ValueError, TypeError, MemoryError)
"""What a wrong argument may raise; ValueError where it is too big for any memory, too."""

MOST_AXES = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
"""Of any array."""

RNG = np.random.default_rng(3)


class UsersError(Exception):
    """What an argument raises when it is asked for its numbers."""


REAL_TYPES = ("f8", ">f8", "f4", "f2", "g", "i1", "u8", ">i4", "?")
OTHER_TYPES = ("c16", "c8", "O", "U3", "S3", "M8[s]", "m8[s]", "f8,f8", "V8")
LAYOUTS = {
    "as it is": lambda x: x,
    "columns first": np.asfortranarray,
    "backwards": lambda x: x[(slice(None, None, -1),) * x.ndim],
    "with gaps": lambda x: np.repeat(x, 3, axis=-1)[..., ::3] if x.ndim else x,
    "unaligned": lambda x: unaligned(x),
    "read-only": lambda x: np.broadcast_to(x, x.shape),
    "subclass": lambda x: x.view(type("Subclass", (np.ndarray,), {})),
    "masked": lambda x: np.ma.masked_array(x, mask=np.zeros(x.shape, bool)),
    "list": lambda x: x.tolist(),
    "buffer": lambda x: memoryview(x) if x.dtype.kind in "fiu" and x.dtype.isnative else x,
    "at a fence": lambda x: fenced(x),
    "object": lambda x: Asked(lambda: x),
}


class Asked:
    def __init__(self, answer):
        self.answer = answer

    def __array__(self, dtype=None, copy=None):
        return self.answer()


def unaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)
    view = np.ndarray(x.shape, x.dtype, memory, 1)
    view[...] = x
    return view


def fenced(x):
    if x.dtype != np.float64:
        return x
    room = Pages().room(x.size, at_end=True).reshape(x.shape)
    room[...] = x
    return room


@st.composite
def arguments(draw, shape):
    """An argument for samples of this shape: mostly a right one."""
    if draw(st.integers(0, 19)) == 0:
        shape = draw(st.sampled_from([(), (0,), (1,), (3,), (2, 1), (6,), (1, 5)]))
    batch = draw(st.lists(st.sampled_from([1, 1, 2, 3, 0, 9]), max_size=3).map(tuple))
    if draw(st.integers(0, 29)) == 0:
        batch = (1,) * (MOST_AXES - draw(st.sampled_from([2, 4, 33, 44])) % MOST_AXES)
    types = REAL_TYPES if draw(st.integers(0, 9)) else OTHER_TYPES
    values = RNG.uniform(-2.0, 2.0, (*batch, *shape))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        converted = convert(values, draw(st.sampled_from(types)))
    x = LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))](converted)
    if draw(st.integers(0, 9)) == 0 and isinstance(x, np.ndarray):
        x = np.broadcast_to(x, (draw(st.sampled_from([1, 2, 9])), *x.shape)[-MOST_AXES:])
    return x


def convert(values, kind):
    dtype = np.dtype(kind)
    if dtype.kind in "Mm":
        return values.astype("i8").astype(dtype)
    if dtype.kind == "V":
        return np.zeros(values.shape, dtype)
    return values.astype(dtype)


@st.composite
def calls(draw):
    """All arguments of inverse dynamics, options now and then."""
    names = [n for n in ARGUMENTS if n in REQUIRED or draw(st.booleans())]
    return {name: draw(arguments(ARGUMENTS[name])) for name in names}


def outcome(function, **named):
    """What came back, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "", function(**named)
        except EXPECTED as error:
            return type(error).__name__, str(error)


def is_complex(value):
    return bool(np.asarray(value).dtype.kind == "c")


SETTINGS = settings(
    derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@given(calls())
@settings(SETTINGS, max_examples=60)
def test_any_arguments(arm_module, named):
    check_call(arm_module, named)


@pytest.mark.deep
@given(calls())
@settings(SETTINGS, max_examples=5_000)
def test_many_arguments(arm_module, named):
    check_call(arm_module, named)


def check_call(arm_module, named):
    """Every backend gives the same result or error, and the result is that of plain copies."""
    found = {
        name: outcome(arm_module.backends[name].closed_form.inverse_dynamics, **named)
        for name in BACKENDS
    }
    error, value = found["numpy"]
    if any(map(is_complex, named.values())):
        for name in ("compiled", "cython"):
            assert found[name][0] in ("TypeError", "ValueError")
        return
    for name in ("compiled", "cython"):
        assert found[name][0] == error, found
        if error:
            assert found[name][1] == value
        else:
            assert_same(found[name][1], value)
    if not error:
        plain = {name: np.array(np.asarray(x), float) for name, x in named.items()}
        assert_same(value, arm_module.backends["numpy"].closed_form.inverse_dynamics(**plain))


def assert_same(value, wanted):
    assert type(value) is np.ndarray and value.dtype == np.float64 and value.shape == wanted.shape
    np.testing.assert_allclose(value, wanted, rtol=1e-13, atol=1e-12)


class Strange(np.ndarray):
    """An array that says what is not so."""

    shape = property(lambda self: (5, 2))

    def __getitem__(self, index):
        raise UsersError

    def __setitem__(self, index, value):
        raise UsersError


def results(folder):
    """Arrays for five results of two numbers that are taken, of all kinds."""
    wide = np.zeros((10, 7))
    return {
        "matrix": np.zeros((5, 2)).view(np.matrix),
        "memory map": np.memmap(folder / "tau", float, "w+", shape=(5, 2)),
        "masked": np.ma.masked_array(np.zeros((5, 2)), mask=False),
        "strange": np.zeros((5, 2)).view(Strange),
        "columns first": np.zeros((5, 2), order="F"),
        "part": wide[::-2, 1:6:4],
        "unaligned": unaligned(np.zeros((5, 2))),
        "buffer": np.asarray(memoryview(bytearray(80))).view(float).reshape(5, 2),
    }


SHAPE, ARRAY, DTYPE = r"expected shape \(5, 2\), got ", "expected a NumPy array, got ", "float64"
OVERLAP = "its entries overlap"
REFUSED_RESULTS = {
    "read-only": (lambda: np.broadcast_to(np.zeros((5, 2)), (5, 2)), "expected a writable array"),
    "no array": (lambda: memoryview(np.zeros((5, 2))), f"{ARRAY}memoryview"),
    "a list": (lambda: [[0.0, 0.0]] * 5, f"{ARRAY}list"),
    "a number": (lambda: np.float64(0.0), f"{ARRAY}float64"),
    "a class": (lambda: np.ndarray, f"{ARRAY}type"),
    "other bytes": (lambda: np.zeros((5, 2), ">f8"), DTYPE),
    "float32": (lambda: np.zeros((5, 2), "f4"), "expected dtype float64, got float32"),
    "complex": (lambda: np.zeros((5, 2), "c16"), DTYPE),
    "objects": (lambda: np.zeros((5, 2), object), DTYPE),
    "one number": (lambda: np.lib.stride_tricks.as_strided(np.zeros(1), (5, 2), (0, 0)), OVERLAP),
    "overlapping rows": (
        lambda: np.lib.stride_tricks.as_strided(np.zeros(6), (5, 2), (8, 8)), OVERLAP
    ),
    "overlapping bytes": (lambda: np.ndarray((5, 2), float, bytearray(99), 0, (16, 7)), OVERLAP),
    "another shape": (lambda: np.zeros((5, 3)), rf"{SHAPE}\(5, 3\)"),
    "a shape that lies": (lambda: np.zeros((4, 2)).view(Strange), SHAPE),
    "more axes": (lambda: np.zeros((1, 5, 2)), rf"{SHAPE}\(1, 5, 2\)"),
    "a tuple": (lambda: (np.zeros((5, 2)),), f"{ARRAY}tuple"),
    "an argument": (lambda: FIVE, "overlaps the argument q"),
}  # fmt: skip
FIVE = RNG.uniform(-2.0, 2.0, (5, 2))


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_of_any_kind_are_filled(arm_module, backend, tmp_path):
    function = arm_module.backends[backend].closed_form.inverse_dynamics
    q = RNG.uniform(-2.0, 2.0, (5, 2))
    wanted = function(q, q, q)
    for kind, out in results(tmp_path).items():
        for given_q in (q, q.tolist()):
            np.asarray(out)[...] = np.nan
            assert function(given_q, q, q, out=out) is out, kind
            np.testing.assert_allclose(np.asarray(out), wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("kind", REFUSED_RESULTS)
def test_other_results_are_refused(arm_module, kind):
    make, words = REFUSED_RESULTS[kind]
    out, said = make(), set()
    for backend in BACKENDS:
        function = arm_module.backends[backend].closed_form.inverse_dynamics
        for qd in (FIVE + 0.0, FIVE.tolist()):
            error, message = outcome(function, q=FIVE, qd=qd, qdd=[0.0, 1.0], out=out)
            assert error in ("TypeError", "ValueError")
            said.add(message)
    (message,) = said
    assert re.match(f"out: .*{words}" if words == DTYPE else f"out: {words}", message), message


TOO_BIG = r"too big|too large|Unable to allocate"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("batch", [(2**44,), (2**57,), (2**20, 2**30), (2**19, 1, 2**19)], ids=str)
def test_batches_beyond_any_memory(arm_module, backend, batch):
    """They are the same numbers again and again, so that the argument itself takes no room."""
    functions = arm_module.backends[backend].closed_form
    many = np.broadcast_to(np.zeros(2), (*batch, 2))
    for call in (
        lambda: functions.inverse_dynamics(many, many, many),
        lambda: functions.mass_matrix(many[..., ::-1]),
        lambda: functions.kinetic_energy(many, [0.0, 1.0]),
        lambda: functions.inverse_dynamics_derivatives(np.zeros(2), np.zeros(2), many),
    ):
        with pytest.raises((MemoryError, ValueError), match=TOO_BIG):
            call()


@pytest.mark.parametrize("backend", BACKENDS)
def test_batches_of_huge_axes_and_no_samples(arm_module, backend):
    functions = arm_module.backends[backend].closed_form
    assert functions.mass_matrix(np.zeros((2**40, 0, 2))).shape == (2**40, 0, 2, 2)
    with pytest.raises(ValueError, match="broadcast"):
        functions.inverse_dynamics(np.zeros((2**40, 0, 2)), np.zeros((3, 1, 2)), [0, 0])


def moving(x):
    return {
        "shape": lambda: setattr(x, "shape", (x.size,)),
        "dtype": lambda: setattr(x, "dtype", np.dtype(">f8")),
        "flags": lambda: x.setflags(write=False),
        "size": lambda: x.resize((1, 2), refcheck=False),
    }


@pytest.mark.filterwarnings("ignore:Setting the (shape|dtype):DeprecationWarning")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("what", moving(np.zeros(1)))
@pytest.mark.parametrize("target", ["q", "out"])
def test_arrays_that_change_during_the_call(arm_module, backend, what, target):
    function = arm_module.backends[backend].closed_form.inverse_dynamics
    for _ in range(20):
        arrays = {"q": RNG.normal(size=(600, 2)), "out": np.zeros((600, 2))}
        change = moving(arrays[target])[what]

        def answer(change=change):
            change()
            return np.zeros((600, 2))

        error, value = outcome(function, qd=Asked(answer), qdd=[0.0, 0.0], **arrays)
        assert error or value is arrays["out"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_an_argument_raises_is_passed_on(arm_module, backend):
    functions = arm_module.backends[backend].closed_form

    def refuse():
        raise UsersError

    with pytest.raises(UsersError):
        functions.mass_matrix(Asked(refuse))
    for answer in (lambda: [1.0, 2.0], lambda: None, lambda: "ab"):
        with pytest.raises(ValueError, match="q: expected an array"):
            functions.mass_matrix(Asked(answer))


def itself():
    endless = []
    endless.append(endless)
    return endless


ODD = (
    ("a list in itself", itself(), ValueError), ("a generator", (x for x in (1.0, 2.0)), TypeError),
    ("a set", {1.0, 2.0}, TypeError), ("a large number", [10**400, 1], TypeError),
    ("bytes", b"12", TypeError), ("other bytes", bytearray(16), ValueError),
    ("a class", float, TypeError), ("nothing", [], ValueError),
)  # fmt: skip


@pytest.mark.parametrize(("value", "error"), [x[1:] for x in ODD], ids=[x[0] for x in ODD])
def test_odd_objects(arm_module, value, error):
    for backend in BACKENDS:
        with pytest.raises(error, match="q: expected"):
            arm_module.backends[backend].closed_form.mass_matrix(value)


def test_rows_of_no_function(arm_module):
    for backend in ("compiled", "cython"):
        for which in (-1, 10**6):
            with pytest.raises(RuntimeError, match="no such function"):
                arm_module.backends[backend].rows(which, [], [])
