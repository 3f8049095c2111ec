"""Products of derivatives and vectors beside the matrices that they do without.

    python -m benchmarks.products [ROBOT ...] [--flags native]         # part of `make bench`

Nanoseconds a sample, results given with `out=`, on one core, minima of calls that take turns: the
function itself, its derivatives, a Jacobian times a vector (``jvp``), a vector times a Jacobian
(``vjp``), and a Hessian times a vector (``hvp``).  "Gradient" is that of sum(w . tau) over a batch
with respect to all q, qd and qdd, without `out=`: by ``vjp``, and by Jacobians that are multiplied
afterwards.  "Hessian times direction" is how that gradient changes: by ``hvp``, and by blocks of
`inverse_dynamics_hessian`.
"""

import argparse
import tempfile
import time

import numpy as np

import symgen
from benchmarks.models import MODELS, without_loads

BASES = ("inverse_dynamics", "forward_dynamics")
KINDS = ("", "_derivatives", "_jvp", "_vjp", "_hvp")
NAMES = [base + kind for base in BASES for kind in KINDS]
CURVED = "inverse_dynamics: Hessian times direction"
ROWS = (64, 1_000, 10_000)
SAMPLES = 100_000
"""In all calls of one function together, at least ten of them."""


def arguments_of(name, given):
    """The first of `given` that a function takes."""
    state, multipliers, direction = given[:3], given[3:4], given[4:]
    kinds = {"jvp": direction, "vjp": multipliers, "hvp": multipliers + direction}
    return state + kinds.get(name.rpartition("_")[2], [])


def through_matrices(robot, base, given):
    """The gradient by Jacobians, times the weights."""
    weights = given[3][:, np.newaxis, :]
    _, *slopes = getattr(robot, f"{base}_derivatives")(*given[:3])
    return [(weights @ slope)[:, 0, :] for slope in slopes]


def through_blocks(robot, given):
    """How the gradient of the torques changes, by its dense Hessian."""
    blocks = robot.inverse_dynamics_hessian(*given[:4])
    dq, dqd, dqdd = (x[:, :, np.newaxis] for x in given[4:])
    turned = blocks.q_qd.swapaxes(-1, -2), blocks.q_qdd.swapaxes(-1, -2)
    changes = (
        blocks.q_q @ dq + blocks.q_qd @ dqd + blocks.q_qdd @ dqdd,
        turned[0] @ dq + blocks.qd_qd @ dqd,
        turned[1] @ dq,
    )
    return [x[:, :, 0] for x in changes]


def agree(product, matrices):
    """Both ways lead to the same."""
    pairs = zip(product, matrices, strict=False)
    return all(np.allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(b).max()) for a, b in pairs)


def contestants(robot, rows):
    """Name -> a call without arguments."""
    rng = np.random.default_rng(0)
    given = [rng.uniform(-1.0, 1.0, (rows, robot.n)) for _ in range(7)]
    calls = {}
    for name in NAMES:
        function, own = getattr(robot, name), arguments_of(name, given)
        results = function(*own)
        out = tuple(results) if isinstance(results, tuple) else results
        calls[name] = lambda function=function, own=own, out=out: function(*own, out=out)
    for base in BASES:
        product = getattr(robot, f"{base}_vjp")
        calls[f"{base}: gradient, vjp"] = lambda product=product: product(*given[:4])
        calls[f"{base}: gradient, Jacobians"] = lambda base=base: through_matrices(
            robot, base, given
        )
        assert agree(product(*given[:4]), through_matrices(robot, base, given))
    calls[f"{CURVED}, hvp"] = lambda: robot.inverse_dynamics_hvp(*given)
    calls[f"{CURVED}, blocks"] = lambda: through_blocks(robot, given)
    assert agree(robot.inverse_dynamics_hvp(*given), through_blocks(robot, given))
    return calls


def nanoseconds(calls, rows):
    """Minima of one sample, by name."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(max(10, SAMPLES // rows)):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return {name: 1e9 * seconds / rows for name, seconds in best.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("robots", nargs="*", default=["arm7", "human43"])
    parser.add_argument("--flags", default="portable", help="of the compiler: portable, native")
    functions = [*NAMES, "mass_matrix", "inverse_dynamics_hessian"]
    words = parser.parse_args()
    for name in words.robots:
        if name not in MODELS:
            parser.error(f"no robot is called {name}; there are {', '.join(MODELS)}")
        path = without_loads(name, tempfile.mkdtemp())
        robot = symgen.load(path, functions=functions, backend="compiled", flags=words.flags)
        robot.threads = 1
        figures = {rows: nanoseconds(contestants(robot, rows), rows) for rows in ROWS}
        print(f"{name + ', rows:':50}" + "".join(f"{rows:>10,}" for rows in ROWS))
        for row in figures[ROWS[0]]:
            print(f"{row:50}" + "".join(f"{figures[rows][row]:10.1f}" for rows in ROWS))
        pairs = [(f"{base}: gradient", "Jacobians", "vjp") for base in BASES]
        for what, dense, product in (*pairs, (CURVED, "blocks", "hvp")):
            ratios = (
                figures[rows][f"{what}, {dense}"] / figures[rows][f"{what}, {product}"]
                for rows in ROWS
            )
            print(f"{what + ', ratio':50}" + "".join(f"{x:10.1f}" for x in ratios))


if __name__ == "__main__":
    main()
