"""Vectors, matrices and transforms against NumPy, over the graph."""

import numpy as np
import pytest

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.linear import (
    Matrix,
    Transform,
    Vector,
    all_zero,
    diagonal,
    identity,
    matrix_sum,
    outer,
    skew,
    skew_vector,
    total,
    trace_of_product,
)


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=3 if name in "uv" else (3, 3)) for name in ("u", "v", "A", "B")}


def symbolic(g, numbers):
    u, v = (Vector(*(g.symbol(f"{n}{i}") for i in range(3))) for n in "uv")
    A, B = (
        Matrix([[g.symbol(f"{n}{i}{k}") for k in range(3)] for i in range(3)]) for n in ("A", "B")
    )
    values = {f"{n}{i}": x for n in "uv" for i, x in enumerate(numbers[n])}
    values |= {f"{n}{i}{k}": numbers[n][i, k] for n in "AB" for i in range(3) for k in range(3)}
    return u, v, A, B, values


def test_against_numpy(numbers):
    g = Graph()
    u, v, A, B, values = symbolic(g, numbers)
    n_u, n_v, n_A, n_B = (numbers[name] for name in ("u", "v", "A", "B"))
    cases = [
        (u + v, n_u + n_v), (u - v, n_u - n_v),
        (-u, -n_u), (u * g.constant(2.5), 2.5 * n_u),
        (u.cross(v), np.cross(n_u, n_v)), ([u.dot(v)], [n_u @ n_v]),
        ((A @ B).entries, (n_A @ n_B).ravel()), ((A + B).entries, (n_A + n_B).ravel()),
        ((A - B).entries, (n_A - n_B).ravel()),
        (matrix_sum([A, B, A]).entries, (2 * n_A + n_B).ravel()),
        ([trace_of_product(A, B)], [np.trace(n_A @ n_B)]), (skew_vector(skew(u, g)), n_u),
        (A.transposed.entries, n_A.T.ravel()), (A.apply(u), n_A @ n_u),
        (A.apply_transposed(u), n_A.T @ n_u), (skew(u, g).apply(v), np.cross(n_u, n_v)),
        (outer(u, v).entries, np.outer(n_u, n_v).ravel()),
        (diagonal(u, g).entries, np.diag(n_u).ravel()), ((identity(g) @ A).entries, n_A.ravel()),
        ([total(list(u), g)], [n_u.sum()]),
    ]  # fmt: skip
    for scalars, expected in cases:
        np.testing.assert_allclose(evaluate(list(scalars), values), expected, rtol=1e-14)


def test_transforms_compose_like_homogeneous_matrices(numbers):
    g = Graph()
    u, v, A, B, values = symbolic(g, numbers)
    product = Transform(A, u) @ Transform(B, v)
    expected = Transform(A, u).homogeneous(g) @ Transform(B, v).homogeneous(g)
    for x, y in zip(product.homogeneous(g).entries, expected.entries, strict=True):
        a, b = evaluate([x, y], values)
        assert a == pytest.approx(b, rel=1e-14)
    np.testing.assert_allclose(
        evaluate(list(Transform(A, u).apply(v)), values),
        numbers["u"] + numbers["A"] @ numbers["v"],
        rtol=1e-14,
    )


def test_structure():
    g = Graph()
    assert total([], g) is g.zero
    matrix = Matrix([[g.one, g.zero]])
    assert matrix.shape == (1, 2) and matrix[0, 1].is_zero
    assert all_zero([g.zero, g.symbol("x") * g.zero], g) and all_zero([], g)
    assert not all_zero([g.zero, g.symbol("x")], g)
