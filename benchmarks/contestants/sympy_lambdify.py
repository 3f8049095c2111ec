"""SymPy: the closed form, differentiated by SymPy and made callable by ``lambdify(cse=True)``.

What one does without a code generator.  The closed form is that of symgen's SymPy view, with the
numbers of the model; it grows so fast that only small robots take part.
"""

from functools import cache

import numpy as np

import symgen
from benchmarks.interface import CALL, LARGE, POOL, ROWS, SMALL, Case, NotMeasured
from benchmarks.timing import python_loop

TITLE = "SymPy lambdify"
FORMULATION = "closed_form_lagrange"
LARGEST = 2
"""So many coordinates at most; the closed form of six joints takes SymPy hours."""


def missing():
    return None


def versions():
    import sympy

    return {"SymPy": sympy.__version__}


def cases(problem, function, modes):
    if problem.n > LARGEST:
        raise NotMeasured("the closed form is too large for SymPy")
    shapes = problem.result_shapes(function)
    if CALL in modes:
        call = compiled(problem, function, "math")
        states = [x.tolist() for x in problem.arguments(function, POOL)]
        given = dict(zip("abc", (x[0] for x in states), strict=False))

        def values():
            flat = np.array([call(*(x[s] for x in states)) for s in range(POOL)], dtype=float)
            return _in_shape(flat, shapes)

        loop = python_loop(f"f({', '.join(given)})", f=call, **given)
        yield Case("sympy_lambdify", function, CALL, 1, loop, values)
    for mode in (SMALL, LARGE):
        if mode in modes:
            yield _batch_case(problem, function, mode)


def _batch_case(problem, function, mode):
    """Columns instead of numbers: the same expressions on arrays."""
    rows = problem.rows(function, mode)
    call = compiled(problem, function, "numpy")
    states = [np.ascontiguousarray(x.T) for x in problem.arguments(function, rows)]
    given = dict(zip("abc", states, strict=False))

    def values():
        results = call(*states)
        flat = np.array([np.broadcast_to(result, rows) for result in results]).T
        return _in_shape(flat[: ROWS[SMALL]], problem.result_shapes(function))

    loop = python_loop(f"f({', '.join(given)})", f=call, **given)
    return Case("sympy_lambdify", function, mode, rows, loop, values, facts={"rows": rows})


@cache
def compiled(problem, function, library):
    """All results one after the other, as a function of vectors."""
    import sympy

    dynamics = symgen.derive(problem.description, FORMULATION)
    derivatives = function.endswith("_derivatives")
    symbols = [dynamics.q]
    if function != "mass_matrix":
        symbols += [dynamics.qd, dynamics.qdd]
    M = sympy.Matrix(dynamics.mass_matrix)
    result = M
    if function.startswith("inverse_dynamics"):
        result = sympy.Matrix(dynamics.inverse_dynamics)
    elif function.startswith("forward_dynamics"):
        given = sympy.symbols(f"tau_1:{problem.n + 1}")
        rest = sympy.Matrix(dynamics.inverse_dynamics).subs({x: 0 for x in dynamics.qdd})
        result = M.LUsolve(sympy.Matrix(given) - rest)
        symbols[2] = given
    results = [result]
    if derivatives:
        results += [result.jacobian(list(names)) for names in symbols]
    values = {sympy.Symbol(p.name): p.value for p in problem.description.parameters}
    named = {str(symbol): value for symbol, value in values.items()}
    numbers = {s: named[s.name] for r in results for s in r.free_symbols if s.name in named}
    flat = [entry.subs(numbers) for matrix in results for entry in matrix]
    return sympy.lambdify([list(names) for names in symbols], flat, library, cse=True)


def _in_shape(flat, shapes):
    sizes = [int(np.prod(shape)) for shape in shapes]
    parts = np.split(flat, np.cumsum(sizes)[:-1], axis=1)
    return tuple(part.reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True))
