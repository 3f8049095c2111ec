"""Results of one sample: arrays that nobody sees any more are given out again, all others never."""

import sys

import pytest

from tests.choosing import some_deep
from tests.safety.programs import succeeds

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or not getattr(sys, "_is_gil_enabled", lambda: True)(),
        reason="references are counted so where there is one lock",
    ),
]

BEGIN = """
import gc, os, sys, threading, warnings, weakref
import numpy as np
import two_link
rng = np.random.default_rng(1)
q = rng.uniform(-1.0, 1.0, (400, 2))
backends = [two_link.backends[name] for name in ("compiled", "cython")]
functions = [backend.newton_euler for backend in backends]
numbers = two_link.backends["numpy"].newton_euler
M_wanted = numbers.mass_matrix(q)
wanted = numbers.inverse_dynamics_derivatives(q, q, q)
def near(found, expected):
    return np.abs(found - expected).max() < 1e-12
def place(array):
    return array.__array_interface__["data"][0]
"""


# What shows the data of an array.
VIEWS = """
import ctypes
class Other:
    def __init__(self, array):
        self.array = array
    @property
    def __array_interface__(self):
        return self.array.__array_interface__
views = {
    "itself": lambda M: M,
    "slice": lambda M: M[..., 1:, 1],
    "transposed": lambda M: M.T,
    "another shape": lambda M: M.reshape(-1),
    "another type": lambda M: M.view(np.int64),
    "diagonal": lambda M: np.einsum("...ii->...i", M),
    "memoryview": lambda M: memoryview(M)[1:],
    "buffer": lambda M: np.frombuffer(M, dtype=np.uint8),
    "iterator": lambda M: M.flat,
    "matrix": lambda M: np.asmatrix(M.reshape(-1, 2)),
    "strided": lambda M: np.lib.stride_tricks.sliding_window_view(M, 2, axis=0),
    "interface": lambda M: np.asarray(Other(M)),
    "ctypes": lambda M: M.ctypes.data_as(ctypes.POINTER(ctypes.c_double * M.size)),
    "dlpack": lambda M: np.from_dlpack(M),
    "view of a view": lambda M: M[1:][..., :1],
    "memory map": lambda M: M.view(np.memmap),
    "attribute": lambda M: M.real,
}
def values(view):
    return np.array(view.contents if hasattr(view, "contents") else view).copy()
"""


def right(folder, program, **variables):
    return succeeds(folder, program, begin=BEGIN, variables=variables)


PROGRAMS = {
    "what_nobody_sees_is_given_out_again": """
        for f in functions:
            M = f.mass_matrix(q[0])
            first = id(M)
            assert type(M) is np.ndarray and M.flags.carray and M.flags.owndata
            del M
            M = f.mass_matrix(q[1])
            assert id(M) == first and near(M, M_wanted[1])
            results = f.inverse_dynamics_derivatives(q[0], q[0], q[0])
            first = id(results)
            del results
            results = f.inverse_dynamics_derivatives(q[1], q[1], q[1])
            assert id(results) == first and type(results) is tuple
            assert all(near(a, b[1]) for a, b in zip(results, wanted))
            tau = results[0]
            del results
            assert id(f.inverse_dynamics_derivatives(q[2], q[2], q[2])) != first
            assert near(tau, wanted[0][1])
        """,
    # A reader's changes of an array, which then is gone, do not reach the next one.
    "what_was_changed_is_not_given_out": """
        warnings.simplefilter("ignore", DeprecationWarning)
        def read_only(M): M.flags.writeable = False
        def shape(M): M.shape = (1, M.size)
        def flat(M): M.shape = M.size
        def type_(M): M.dtype = np.int64
        def order(M): M.dtype = M.dtype.newbyteorder()
        def metadata(M): M.dtype = np.dtype(np.float64, metadata={"unit": "m"})
        def strides(M): M.strides = M.strides[::-1]
        def smaller(M): M.resize((1, 1), refcheck=False)
        def larger(M): M.resize((20, 20), refcheck=False)
        def data(M): M.data = np.zeros(M.size)
        changes = (read_only, shape, flat, type_, order, metadata, strides, smaller, larger, data)
        for f in functions:
            for compute, expected in (
                (lambda k: f.mass_matrix(q[k]), M_wanted),
                (lambda k: f.inverse_dynamics_derivatives(q[k], q[k], q[k])[2], wanted[2]),
            ):
                for change in changes:
                    for k in range(6):
                        M = compute(k)
                        try: change(M)
                        except (AttributeError, TypeError): pass  # another NumPy
                        del M
                        M = compute(k + 1)
                        assert M.shape == (2, 2) and M.dtype == np.float64, change
                        assert M.dtype.metadata is None and M.flags.carray and M.flags.owndata
                        assert near(M, expected[k + 1])
        """,
    # Who looks at an array weakly never finds other numbers in it.
    "weak_references": """
        for f in functions:
            gone = []
            def compute(k): return f.inverse_dynamics_derivatives(q[k], q[k], q[k])[1]
            def again(_): gone.append(compute(5).copy())  # a call while an array ends
            looks = [weakref.ref(compute(k), again) for k in range(100)]
            for k, look in enumerate(looks):
                M = look()
                assert M is None or near(M, wanted[1][k])
                del M
            for k in range(3): compute(k)
            assert not any(look() is not None for look in looks)
            assert len(gone) == 100 and all(near(M, wanted[1][5]) for M in gone)
        """,
    "threads_and_forks": """
        warnings.simplefilter("ignore", DeprecationWarning)
        sys.setswitchinterval(1e-6)
        wrong = []
        def work(f, seed):
            last = []
            for k in np.random.default_rng(seed).integers(0, 400, 4000):
                found = f.inverse_dynamics_derivatives(q[k], q[k], q[k])
                last = [*last[-2:], (k, found, f.mass_matrix(q[k]))]
                for i, parts, M in last:
                    good = near(M, M_wanted[i])
                    if not good or not all(near(a, b[i]) for a, b in zip(parts, wanted)):
                        wrong.append(i)
        workers = [threading.Thread(target=work, args=(f, k)) for f in functions for k in range(3)]
        for worker in workers: worker.start()
        children = []
        for _ in range(4):
            child = os.fork()
            if child == 0:
                work(functions[0], 9)
                os._exit(1 if wrong else 0)
            children.append(child)
        for worker in workers: worker.join()
        assert not wrong
        assert not any(os.waitpid(child, 0)[1] for child in children)
        """,
    "nothing_is_kept_where_nothing_is_to_be": """
        for f in functions:
            M = f.mass_matrix(q[0])
            two_link.result_memory = 0
            for k in range(2): f.mass_matrix(q[k])  # what was kept is let go
            M.resize((3, 2))
            look = weakref.ref(M)
            del M
            assert look() is None
            look = weakref.ref(f.mass_matrix(q[1]))
            assert look() is None
            del two_link.result_memory
        """,
}


@pytest.mark.parametrize("name", some_deep(PROGRAMS, {*PROGRAMS} - {"threads_and_forks"}))
def test_programs(folder, name):
    right(folder, PROGRAMS[name])


def test_what_somebody_sees_is_not_written_again(folder):
    right(
        folder,
        VIEWS
        + """
for f in functions:
    single = {
        "M": lambda k: f.mass_matrix(q[k]),
        "second of several": lambda k: f.inverse_dynamics_derivatives(q[k], q[k], q[k])[1],
        "last of several": lambda k: f.inverse_dynamics_derivatives(q[k], q[k], q[k])[3],
    }
    for result, compute in single.items():
        for name, view in views.items():
            for k in range(8):
                compute(k)
                seen = view(compute(k))
                expected = values(seen)
                for other in range(6):
                    compute(k + 1 + other).fill(np.nan)
                assert np.array_equal(values(seen), expected), (result, name)
                del seen
    kept = [f.mass_matrix(x) for x in q]
    assert all(near(a, b) for a, b in zip(kept, M_wanted))
    kept = [f.inverse_dynamics_derivatives(x, x, x) for x in q]
    assert all(near(a, b[k]) for k, found in enumerate(kept) for a, b in zip(found, wanted))
    ring = []
    for k, x in enumerate(q):  # the last few stay
        ring = [*ring[-3:], (k, f.mass_matrix(x))]
        assert all(near(M, M_wanted[i]) for i, M in ring)
        """,
    )
