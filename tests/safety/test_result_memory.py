"""Memory of results that stays for the next ones: seen by nobody else, counted, and given back."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from tests.choosing import some_deep
from tests.safety.programs import succeeds

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="pages are those of Linux"),
]
needs_a_lock = pytest.mark.skipif(
    not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="references are counted so where there is one lock",
)

BEGIN = """
import gc, os, resource, sys, threading, warnings, weakref
import numpy as np
import two_link
rng = np.random.default_rng(1)
q = rng.uniform(-1.0, 1.0, (200_000, 2))
backends = [two_link.backends[name] for name in ("compiled", "cython")]
functions = [backend.newton_euler for backend in backends]
def place(array):
    return array.__array_interface__["data"][0]
"""
BATCHES = f"""{BEGIN}
ids = [function.mass_matrix for function in functions]
kept = backends[0].result_memory_kept
def resident():
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * resource.getpagesize()
MB = 2**20
assert kept() == 0
"""
SINGLE = f"""{BEGIN}
q = q[:400]
numbers = two_link.backends["numpy"].newton_euler
M_wanted = numbers.mass_matrix(q)
wanted = numbers.inverse_dynamics_derivatives(q, q, q)
def near(found, expected):
    return np.abs(found - expected).max() < 1e-12
"""

PROGRAMS = {
    # By both backends, which are modules of their own; small results are left to NumPy.
    "what_nobody_sees_is_used_again": """
        for rows in (33, 700, 5_000, 20_000, 200_000):
            for first, second in (ids, ids[::-1]):
                M = first(q[:rows])
                assert M.flags.owndata and M.flags.carray and M.base is None
                assert type(M) is np.ndarray and place(M) % 64 == 0
                where, wanted = place(M), M.copy()
                before = kept()
                del M
                assert kept() >= before + wanted.nbytes
                again = second(q[:rows])
                assert place(again) == where and kept() == before
                assert np.abs(again - wanted).max() < 1e-12
                listed = first(q[:rows].tolist() if rows < 9000 else q[:rows, ::-1])  # the long way
                assert place(listed) != where and place(listed) % 64 == 0
                del listed, again
        assert backends[1].result_memory_kept() == kept() > 0
        before = kept()
        for _ in range(100):
            ids[0](q[0]), ids[0](q[:8])
        assert kept() == before
        """,
    "arrays_may_be_resized": """
        for rows in (33, 1000, 3000, 100_000):
            for more in (1, 10, rows - 1, rows + 1, 2 * rows, 5 * rows):
                M = ids[0](q[:rows])
                wanted = M.copy()
                M.resize((more, 2, 2))
                common = min(rows, more)
                assert np.array_equal(M[:common], wanted[:common]) and not M[common:].any()
                M.fill(3.0)  # all of it is there
                assert np.array_equal(ids[0](q[:rows]), wanted) and (M == 3.0).all()
                M.resize((0, 2, 2))
                M.resize((rows, 2, 2))
                M.fill(4.0)
        """,
    "tracemalloc_counts_what_is_seen": """
        import tracemalloc
        def traced():
            snapshot = tracemalloc.take_snapshot()
            own = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
            return sum(trace.size for trace in snapshot.filter_traces([own]).traces)
        untraced = ids[0](q[:5000])
        tracemalloc.start()
        before = traced()
        for _ in range(3):
            M, other = ids[0](q[:5000]), ids[1](q[:3])
            assert traced() - before == M.nbytes + other.nbytes
            M.resize((6000, 2, 2))
            assert traced() - before == M.nbytes + other.nbytes
            del M, other
            assert traced() == before and kept() > 0
        del untraced
        assert traced() == before
        """,
    "memory_goes_back": """
        two_link.result_memory = 40 * MB
        assert two_link.result_memory == 40 * MB
        ids[0](q), ids[1](q)
        before = resident()  # with what calls need
        for rows in (300, 3_000, 30_000, 200_000):
            results = [ids[k % 2](q[:rows]) for k in range(300 * MB // (32 * rows))]
            assert resident() - before > 280 * MB
            del results
            assert 0 < kept() <= 40 * MB
            # with what may be free in the heap of the C library
            assert resident() - before < 80 * MB, (rows, (resident() - before) / MB)
        two_link.result_memory = 7 * MB
        assert 0 < kept() <= 7 * MB
        held = ids[0](q)
        two_link.result_memory = 0
        assert kept() == 0
        del held
        assert kept() == 0 and resident() - before < 20 * MB
        del two_link.result_memory
        assert two_link.result_memory > 100 * MB
        ids[0](q)
        assert kept() >= 32 * len(q)
        """,
    "the_oldest_goes_first": """
        small, large = ids[0](q[:1000]), ids[0](q[:100_000])
        places = place(small), place(large)
        two_link.result_memory = 4 * MB
        del small
        del large
        assert place(ids[0](q[:100_000])) == places[1]
        again = ids[0](q[:1000])
        assert kept() >= 32 * 100_000
        two_link.result_memory = 3 * MB  # less than the large one
        assert kept() == 0
        """,
    "what_is_kept_is_let_go_before_memory_is_refused": """
        two_link.result_memory = 400 * MB
        many = np.concatenate([q] * 40)
        results = [ids[0](q) for _ in range(50)]
        del results
        with open("/proc/self/statm") as numbers:
            space = int(numbers.read().split()[0]) * resource.getpagesize()
        assert kept() > 290 * MB
        resource.setrlimit(resource.RLIMIT_AS, (space + 10 * MB, resource.RLIM_INFINITY))
        assert ids[0](many).nbytes > 200 * MB and kept() > 200 * MB
        """,
    "threads_that_hand_results_on": """
        import queue
        two_link.result_memory = 8 * MB
        passed, wrong = queue.Queue(20), []
        def make(seed):
            rng = np.random.default_rng(seed)
            for number in range(150):
                first = int(rng.integers(0, 90_000))
                rows = int(rng.choice([40, 700, 9_000, 90_000]))
                passed.put((first, rows, ids[number % 2](q[first : first + rows])))
            passed.put(None)
        def look():
            while (found := passed.get()) is not None:
                first, rows, M = found
                if np.abs(M - wanted[first : first + rows]).max() > 1e-12: wrong.append(rows)
                M.fill(np.nan)
        wanted = two_link.backends["numpy"].newton_euler.mass_matrix(q)
        workers = [threading.Thread(target=make, args=(k,)) for k in range(4)]
        workers += [threading.Thread(target=look) for _ in range(4)]
        for worker in workers: worker.start()
        for worker in workers: worker.join()
        assert not wrong and kept() <= 8 * MB
        """,
    "forks_while_threads_make_results": """
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork of a process with threads
        wanted = two_link.backends["numpy"].newton_euler.mass_matrix(q)
        held = ids[0](q)
        go = True
        def work():
            while go:
                ids[0](q[:50_000]), ids[1](q[:100])
        workers = [threading.Thread(target=work) for _ in range(3)]
        for worker in workers: worker.start()
        for _ in range(8):
            child = os.fork()
            if child == 0:
                go = False
                good = np.abs(held - wanted).max() < 1e-12
                held.fill(0.0)
                for k in range(20):
                    good = good and np.abs(ids[k % 2](q) - wanted).max() < 1e-12
                two_link.result_memory = 0
                os._exit(0 if good and kept() == 0 else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        go = False
        for worker in workers: worker.join()
        assert np.abs(held - wanted).max() < 1e-12 and kept() > 0
        """,
    "arrays_outlive_their_module": """
        import atexit, weakref
        last = ids[0](q)
        class Late:
            def __init__(self): self.array, self.function = ids[1](q), ids[1]
            def __del__(self):
                self.array.sum()
                try: self.function(q_of_late)
                except Exception: pass
        q_of_late, late = q, Late()
        sys.late = Late()  # ends with the interpreter
        views = [ids[0](q)[::2] for _ in range(3)]
        atexit.register(lambda: last.fill(ids[0](q).sum()))
        for name in [name for name in sys.modules if name.startswith("two_link")]:
            del sys.modules[name]
        del two_link, backends, functions, kept
        gc.collect()
        assert np.isfinite(last).all()
        import two_link
        assert two_link.backends["compiled"].result_memory_kept() >= 0
        del views
        gc.collect()
        assert two_link.mass_matrix(q).shape == last.shape
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(folder, name):
    succeeds(folder, PROGRAMS[name], begin=BATCHES)


@pytest.mark.parametrize("number", ["0", "5000000"])
def test_a_variable_says_how_much(folder, number):
    succeeds(
        folder,
        f"""
        assert two_link.result_memory == {number}
        for rows in (1000, 100_000, 200_000):
            ids[0](q[:rows])
            assert kept() <= {number}
        """,
        begin=BATCHES,
        variables={"SYMGEN_RESULT_MEMORY": number},
    )


@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_nothing_is_kept_where_memory_is_limited(folder, limit):
    succeeds(
        folder,
        f"""
        ids[0](q), ids[0](q[:100])
        assert kept() > 0
        before = resource.getrlimit(resource.{limit})
        resource.setrlimit(resource.{limit}, (2**34, before[1]))
        for rows in (200_000, 100):
            ids[0](q[:rows])
            assert kept() == 0 == two_link.result_memory
        two_link.result_memory = 20 * MB  # unless it is asked for
        ids[0](q)
        assert two_link.result_memory == 20 * MB >= kept() > 6 * MB
        del two_link.result_memory
        assert kept() == 0 == two_link.result_memory
        resource.setrlimit(resource.{limit}, before)
        ids[0](q)
        assert kept() > 0
        """,
        begin=BATCHES,
    )


@pytest.fixture(scope="module")
def result_memory():
    path = Path(__file__).parents[2] / "templates" / "package" / "_result_memory.py"
    spec = importlib.util.spec_from_file_location("result_memory", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_limits_of_control_groups(result_memory, tmp_path):
    def file(name, text):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def limits(processes):
        file("processes", processes)
        found = result_memory.limits_of_groups(tmp_path / "processes", tmp_path)
        return sorted(found)

    file("a/b/memory.max", "3000000\n")
    file("a/memory.max", "max\n")
    file("memory.max", "7000000\n")
    assert limits("0::/a/b\n") == [3000000, 7000000]
    assert limits("0::/not/here/../../etc\n") == [7000000]
    file("memory/x/memory.limit_in_bytes", "5000000\n")
    file("memory/memory.limit_in_bytes", "9223372036854771712\n")
    assert limits("4:memory:/x\n1:cpu:/a\n") == [5000000]
    assert limits("") == [] == result_memory.limits_of_groups(tmp_path / "no", tmp_path)


def test_the_default(result_memory, monkeypatch):
    there_are = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    monkeypatch.setattr(result_memory, "limits_of_groups", list)
    assert result_memory.default() == min(2**30, there_are // 16)
    monkeypatch.setattr(result_memory, "limits_of_groups", lambda: [2**25, 2**28])
    assert result_memory.default() == 2**21


OF_SINGLES = {
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
"""Programs with results of one sample."""


@needs_a_lock
@pytest.mark.parametrize("name", some_deep(OF_SINGLES, {*OF_SINGLES} - {"threads_and_forks"}))
def test_programs_of_single_results(folder, name):
    succeeds(folder, OF_SINGLES[name], begin=SINGLE)


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


@needs_a_lock
def test_what_somebody_sees_is_not_written_again(folder):
    succeeds(
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
        begin=SINGLE,
    )
