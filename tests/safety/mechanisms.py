"""Call what a package of a mechanism has in C beside its kernels.

``python -m tests.safety.mechanisms FOLDER``: accelerations and steps, which must be those of
Python, then arguments that C cannot take as they are.  The last line says how much was compared."""

import json
import sys
from pathlib import Path

import numpy as np

from symgen.toolchain.loading import load_package
from symgen.validation.mechanism_kernels import ACCELERATIONS, accelerations, steps
from tests.safety.fences import FENCES


def odd_arguments(module):
    """Lists, other orders and layouts, one sample beside many, none, and wrong shapes."""
    random, calls = np.random.default_rng(3), 0
    fence = FENCES["blocks"]()
    for name in ACCELERATIONS:
        compiled, plain = getattr(module, name), getattr(module._mechanism, name)
        for size in (None, 0, 1, 2, 9):
            batch, nq = (() if size is None else (size,)), len(module.position_names)
            qd, tau = random.uniform(-1, 1, (2, *batch, module.n))
            q = random.uniform(-1, 1, (*batch, nq))
            ended = fence.room(q.size, at_end=True).reshape(q.shape)
            ended[...] = q
            for given in ((ended, qd, tau), (q.tolist(), qd, tau), (q, qd[..., ::-1], tau),
                          (np.asfortranarray(q), qd, tau[:1] if size else tau)):  # fmt: skip
                if size == 0 and isinstance(given[0], list):
                    continue
                for one, other in zip(compiled(*given), plain(*given), strict=True):
                    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8)
                calls += 1
        for wrong in ((q[..., :-1], qd, tau), (q, qd[:4], tau), (q, qd, "tau")):
            try:
                compiled(*wrong)
            except (TypeError, ValueError):
                calls += 1
            else:
                raise AssertionError(f"{name} took wrong arguments")
    return calls


def main():
    module = load_package(Path(sys.argv[1]))
    rows = [*accelerations(module), *steps(module), *steps(module, projection="tangent")]
    for row in rows:
        assert row.passed and row.samples, row
    print(json.dumps({"rows": len(rows), "calls": odd_arguments(module)}))


if __name__ == "__main__":
    main()
