"""Threads, forks, interpreters within one process, its end, and Ctrl-C: nothing hangs or crashes.

Every case is a program of its own in a child Python, as a user would write it."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from unittest import mock

import pytest

from symgen.emit import wrapper
from symgen.options import BuildOptions
from symgen.toolchain.compiler import find_compiler
from tests.safety.building import EXAMPLES, bundle_of, put, python, replaced
from tests.safety.programs import BEGIN, succeeds

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")]

FORK = """
    import os
    warnings.simplefilter("ignore", DeprecationWarning)  # a fork of a process with threads
    def child_is_right():
        child = os.fork()
        if child == 0:
            os._exit(0 if right() and right(1) else 1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
PROGRAMS = {
    "calls_while_the_package_is_imported_again_by_another_name": """
        import importlib.util
        wrong, go = [], True
        def work():
            while go:
                if not right():
                    wrong.append(1)
        worker = threading.Thread(target=work)
        worker.start()
        path = two_link.__path__[0]
        for number in range(20):
            spec = importlib.util.spec_from_file_location(
                f"again_{number}", path + "/__init__.py", submodule_search_locations=[path])
            sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            assert module.backend == "compiled"
            assert np.array_equal(module.mass_matrix(some), two_link.mass_matrix(some))
        go = False
        worker.join()
        assert not wrong and right()
    """,
    "forks_after_threads_and_within_their_work": FORK
    + """
    assert right() and child_is_right()
    go, wrong = True, []
    def work():
        while go:
            if not right(): wrong.append(1)
    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers: worker.start()
    for _ in range(8):
        assert child_is_right()
    go = False
    for worker in workers: worker.join()
    assert not wrong and right()
    """,
    "threads_that_end_give_their_memory_back": """
        import ctypes
        class Info(ctypes.Structure):
            _fields_ = [(name, ctypes.c_size_t) for name in
                        "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks f k".split()]
        library = ctypes.CDLL(None)
        if not hasattr(library, "mallinfo2"): sys.exit()
        library.mallinfo2.restype = Info
        def work():
            for _ in range(20):
                two_link.mass_matrix(some)
                try: two_link.mass_matrix(some, out=some)
                except ValueError: pass
        def used():
            for _ in range(50):
                worker = threading.Thread(target=work)
                worker.start()
                worker.join()
            info = library.mallinfo2()
            return info.uordblks + info.hblkhd
        used()
        before = used()
        after = used()
        assert after - before < 50 * 1000, (before, after)  # the room of one thread is larger
        """,
    # At exit, and in `__del__` when modules are already taken apart: a result or an exception.
    "calls_while_python_ends": """
        import atexit
        @atexit.register
        def last():
            for backend in two_link.backends.values():
                assert backend.newton_euler.mass_matrix(some).shape == (1000, 2, 2)
        class Late:
            def __init__(self, backend):
                self.function = two_link.backends[backend].newton_euler.mass_matrix
                self.some, self.few = some, [0.0, 1.0]
            def __del__(self):
                for given in (self.some, self.few):
                    try:
                        self.function(given)
                    except Exception:
                        pass
        late = [Late(name) for name in two_link.backends]
        late.append(late)  # found by the collector only
        kept = Late("compiled")
        sys.kept = Late("compiled")
        import builtins
        builtins.kept = Late("cython")
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(folder, name):
    succeeds(folder, PROGRAMS[name])


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_pools_of_processes(folder, tmp_path, method):
    """Functions and modules travel by name."""
    script = tmp_path / "pool.py"
    begin = BEGIN.replace("\n", "\n    ")
    script.write_text(
        f"""
import functools, multiprocessing
import numpy as np
import two_link
def shape_of(function, x):
    return function(x).shape
def module_of(module, x):
    return module.backend, module.mass_matrix(x).sum()
if __name__ == "__main__":
    {begin}
    assert right()
    with multiprocessing.get_context({method!r}).Pool(3) as pool:
        parts = np.array_split(q, 7)
        found = pool.map(two_link.mass_matrix, parts)
        assert np.array_equal(np.concatenate(found), two_link.mass_matrix(q))
        inner = functools.partial(shape_of, two_link.newton_euler.mass_matrix)
        assert pool.map(inner, parts[:2]) == [(*x.shape, 2) for x in parts[:2]]
        names = [name for name, _ in pool.map(functools.partial(module_of, two_link), parts)]
        assert set(names) == {{"compiled"}}
"""
    )
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = python("-W", "ignore::DeprecationWarning", str(script), environment=environment)
    assert done.returncode == 0, done.stderr


INTERPRETERS = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
CODE = '''
import sys, warnings
sys.path[:0] = PATH
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        import numpy
    except Exception:
        numpy = None  # it is for one interpreter, and says so by an ImportError from 2.0 on
    if numpy is not None:
        import two_link
        shape = two_link.mass_matrix(numpy.zeros((20, 2))).shape
        assert shape == (20, 2, 2), shape
    else:
        try:
            import two_link
        except Exception:
            pass
        else:
            raise AssertionError("without NumPy")
'''
def one(legacy):
    if hasattr(interpreters, "new_config"):
        number = interpreters.create("legacy" if legacy else "isolated")
    else:
        number = interpreters.create(isolated=not legacy)
    code = CODE.replace("PATH", repr([path for path in sys.path if path]))
    error = interpreters.run_string(number, code)
    assert error is None, error
    interpreters.destroy(number)
"""


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize(("begin", "end"), [(BEGIN, "assert right()"), ("import sys", "")])
def test_a_second_interpreter(folder, begin, end, legacy):
    """It works, or NumPy or Cython refuse with an ImportError; the first one is as it was."""
    succeeds(folder, f"{INTERPRETERS}\none({legacy}); one({legacy})\n{end}\n", begin=begin)


def test_daemon_threads_at_the_end_of_the_process(folder):
    for _ in range(3):
        succeeds(
            folder,
            """
            def work(backend):
                functions = two_link.backends[backend].newton_euler
                while True:
                    functions.inverse_dynamics_derivatives(q, q, q)
                    functions.mass_matrix(some.tolist())
            two_link.threads = 3
            for backend in ("compiled", "cython", "numpy"):
                for _ in range(2):
                    threading.Thread(target=work, args=(backend,), daemon=True).start()
            time.sleep(0.2)
            """,
        )


SLOWER = 10_000


@pytest.fixture(scope="module")
def slow_folder(tmp_path_factory):
    """The package with a kernel that takes as long as one of so many times its operations."""
    options = BuildOptions(formulations=("newton_euler",), functions=("mass_matrix",))
    with mock.patch.object(wrapper, "OPERATIONS_AT_ONCE", wrapper.OPERATIONS_AT_ONCE // SLOWER):
        bundle = bundle_of(EXAMPLES / "two_link.yaml", options, ("compiled", "numpy"))
    change = replaced(
        "c/symgen-rows.h",
        "        const int samples = f->compute(inputs, out) & ((1 << valid) - 1);\n",
        "        int samples = 0;\n"
        f"        for (int again = 0; again < {SLOWER}; ++again)\n"
        "            samples = f->compute(inputs, out) & ((1 << valid) - 1);\n",
    )
    return put(bundle, tmp_path_factory.mktemp("slow"), find_compiler(), change).parent


@pytest.fixture
def child(slow_folder):
    """A call of minutes; it says when it begins, and what it raised."""
    program = textwrap.dedent(
        """
        import signal
        import numpy as np
        import two_link
        signal.signal(signal.SIGINT, signal.default_int_handler)
        functions = two_link.backends["compiled"].newton_euler
        q = np.zeros((3_000_000, 2))
        out = np.full((3_000_000, 2, 2), np.nan)
        print("begins", flush=True)
        try:
            functions.mass_matrix(q, out=out)
            print("complete")
        except KeyboardInterrupt:
            done = int(np.count_nonzero(np.isfinite(out[:, 0, 0])))
            print("interrupted", 0 < done < len(q), bool(np.isnan(out[done:]).all()))
        some = np.ones((99, 2))
        numpy = two_link.backends["numpy"].newton_euler
        assert np.allclose(functions.mass_matrix(some), numpy.mass_matrix(some), 1e-13, 1e-13)
        """
    )
    environment = {**os.environ, "PYTHONPATH": str(slow_folder), "SYMGEN_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment
    )
    yield process
    process.kill()
    process.wait()


def test_ctrl_c_ends_a_long_batch(child):
    """Between pieces of a batch; what was computed until then stays in `out`."""
    assert child.stdout.readline() == "begins\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    output, _ = child.communicate(timeout=100)
    assert child.returncode == 0
    assert output.splitlines() == ["interrupted True True"]
