"""Generated functions inside JAX, PyTorch, CasADi: values, derivatives in both modes, batches."""

import numpy as np
import pytest

import symgen
from symgen.errors import RequestError
from symgen.frameworks.functions import NEEDED
from tests.modules import EXAMPLES, module
from tests.planning import robots

pytestmark = pytest.mark.slow

NAMES = ("inverse_dynamics", "forward_dynamics")
ROWS = ("constraints", "constraint_jacobian", "constraint_rates")


def derivatives(name):
    mass = [] if name == "inverse_dynamics" else ["mass_matrix"]
    slopes = [f"{name}_derivatives", f"{name}_parameter_derivatives"]
    return [name, *slopes, "inverse_dynamics_load_derivatives", *mass]


def plain(*names):
    return robots.arm([function for name in names for function in derivatives(name)])


MADE = {
    "plain": plain,
    "with products": lambda name: robots.arm_with_products(),
    "with curvature": lambda name: robots.arm_with_products(more=("_hvp",)),
}


@pytest.fixture
def given():
    """q, qd, qdd or tau, loads, parameters: a batch of four."""
    random = np.random.default_rng(0)
    shapes = (3, 3, 3, 6)
    return [random.standard_normal((4, size)) for size in shapes] + [np.full((4, 1), 1.4)]


def expected(robot, name, given, tangents):
    """Values and directional derivatives, by differences."""

    def value(at):
        state, loads, parameters = at[:3], at[3].reshape(4, 1, 6), at[4]
        return getattr(robot, name)(*state, loads=loads, parameters=parameters)

    h = 1e-6
    sides = [
        value([x + sign * h * t for x, t in zip(given, tangents, strict=True)]) for sign in (1, -1)
    ]
    return value(given), (sides[0] - sides[1]) / (2 * h)


@pytest.fixture
def tangents():
    random = np.random.default_rng(1)
    return [random.standard_normal((4, size)) for size in (3, 3, 3, 6, 1)]


@pytest.fixture
def jax():
    """JAX in float64, in the threads of callbacks, too."""
    jax = pytest.importorskip("jax", reason="needs jax: pip install 'symgen[test]'")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("made", ["plain", "with products", "with curvature"])
@pytest.mark.parametrize("name", NAMES)
def test_jax(given, tangents, name, made, jax):
    robot = MADE[made](name)
    function = getattr(symgen.jax(robot, loads=True, parameters=True), name)
    value, slope = jax.jvp(function, tuple(given), tuple(tangents))
    right, along = expected(robot, name, given, tangents)
    assert np.allclose(value, right, rtol=1e-13)
    assert np.allclose(slope, along, atol=1e-6 * np.abs(along).max())
    weights = np.random.default_rng(2).standard_normal(value.shape)
    _, pull = jax.vjp(function, *given)
    products = sum(np.sum(np.asarray(g) * t) for g, t in zip(pull(weights), tangents, strict=True))
    assert np.isclose(products, np.sum(weights * slope), rtol=1e-12)
    one_by_one = jax.jit(jax.vmap(function))(*given)
    assert np.allclose(one_by_one, right, rtol=1e-13)
    rows = jax.vmap(jax.jacrev(function))(*given)
    columns = jax.vmap(jax.jacfwd(function))(*given)
    assert np.allclose(rows, columns, rtol=1e-13)
    if made != "with curvature":
        with pytest.raises(symgen.errors.RequestError, match=f"{name}: second .* {name}_hvp"):
            jax.hessian(lambda q: function(q, *given[1:]).sum())(given[0])
        return
    from jax.test_util import check_grads

    check_grads(function, given, order=2, atol=1e-4, rtol=1e-4)
    bends = jax.jit(jax.vmap(jax.hessian(lambda *x: function(*x) @ x[1])))(*given)
    assert np.allclose(bends, np.swapaxes(bends, -1, -2), atol=1e-10)
    with pytest.raises(symgen.errors.RequestError, match="third order"):
        jax.jacfwd(jax.hessian(lambda q: function(q, *given[1:]).sum()))(given[0])


@pytest.mark.parametrize("made", ["plain", "with curvature"])
@pytest.mark.parametrize("name", NAMES)
def test_pytorch(given, tangents, name, made):
    torch = pytest.importorskip("torch", reason="PyTorch is too large for the test extra")
    robot = MADE[made](name)
    function = getattr(symgen.torch(robot, loads=True, parameters=True), name)
    tensors = [torch.tensor(one, requires_grad=True) for one in given]
    result = function(*tensors)
    right, along = expected(robot, name, given, tangents)
    assert np.allclose(result.detach(), right, rtol=1e-13)
    weights = torch.tensor(np.random.default_rng(2).standard_normal(right.shape))
    (weights * result).sum().backward()
    products = sum(
        float((one.grad * torch.tensor(t)).sum()) for one, t in zip(tensors, tangents, strict=True)
    )
    assert np.isclose(products, float((weights * torch.tensor(along)).sum()), rtol=1e-6)
    plain = tuple(torch.tensor(one) for one in given)
    _, slope = torch.func.jvp(function, plain, tuple(map(torch.tensor, tangents)))
    assert np.allclose(slope, along, atol=1e-6 * np.abs(along).max())
    assert torch.autograd.gradcheck(function, tensors, atol=1e-5)
    rows = torch.func.vmap(torch.func.jacrev(function))(*plain)
    columns = torch.func.vmap(torch.func.jacfwd(function))(*plain)
    assert torch.allclose(rows, columns, rtol=1e-12)
    with torch.no_grad():
        assert np.allclose(function(*plain), right, rtol=1e-13)
    if made == "with curvature":
        assert torch.autograd.gradgradcheck(function, tensors, atol=1e-4)
        weighted = [torch.func.vmap(torch.func.hessian(lambda *x: function(*x) @ x[1]))(*plain)]
        assert torch.allclose(weighted[0], weighted[0].mT, atol=1e-10)
        (slope,) = torch.autograd.grad(function(*tensors).sum(), tensors[0], create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), tensors[0], create_graph=True)
        with pytest.raises(symgen.errors.RequestError, match="third order"):
            bend.sum().backward()


def test_mechanisms_in_casadi():
    """Derivatives by states and loads, against differences; what is missing says why."""
    casadi = pytest.importorskip("casadi")
    path = EXAMPLES / "mechanisms" / "five_bar.yaml"
    functions = (*NEEDED, "inverse_dynamics", "inverse_dynamics_load_derivatives", *ROWS)
    robot = module(path, functions=functions, loads="bar12")
    library = symgen.casadi(robot, loads=True)
    q, load = robot.assemble(), 0.3 * np.arange(6.0)
    qd = robot.closed_velocities(q, hold=[])
    qdd = robot.constrained_forward_dynamics(q, qd, [1, 0, 0, 0], loads=[load]).qdd
    for name, last in (("inverse", qdd), ("forward", np.eye(4)[0])):
        function = getattr(library, f"constrained_{name}_dynamics")
        at = [np.array(q), qd, last, load]
        symbols = [casadi.MX.sym(x, len(y)) for x, y in zip("abcd", at, strict=True)]
        jacobians = [casadi.jacobian(function(*symbols), symbol) for symbol in symbols]
        for k, slope in enumerate(casadi.Function("slopes", symbols, jacobians)(*at)):
            step = 1e-6 * np.random.default_rng(k).normal(size=len(at[k]))
            moved = ([*at[:k], at[k] + x, *at[k + 1 :]] for x in (step, -step))
            plus, minus = (function(*x).full()[:, 0] for x in moved)
            assert np.allclose(slope.full() @ step, (plus - minus) / 2, rtol=1e-5, atol=1e-10)
    with pytest.raises(AttributeError, match="use constrained_forward_dynamics"):
        _ = library.forward_dynamics
    text = (
        "symgen: 1\nname: timed\njoints: [{name: a, type: revolute, origin: {}, link: {mass: 1}}]\n"
    )
    late = module(f"{text}relations: {{drive: 'q.a - max(t - 5, 0)**3'}}\n", functions="default")
    with pytest.raises(RequestError, match="a relation of this robot's model mentions the time"):
        symgen.casadi(late)
    with pytest.raises(AttributeError, match="mass_matrix is not one of the functions for"):
        _ = library.mass_matrix


def test_mistakes_are_named():
    pytest.importorskip("jax", reason="needs jax: pip install 'symgen[test]'")
    inverse_dynamics = symgen.jax(plain(*NAMES)).inverse_dynamics
    with pytest.raises(symgen.errors.RequestError, match=r"q: expected shape \(..., 3\)"):
        inverse_dynamics(np.zeros(2), np.zeros(3), np.zeros(3))
    with pytest.raises(symgen.errors.RequestError, match="takes q, qd, qdd"):
        inverse_dynamics(np.zeros(3))
    two_link = robots.example("two_link", ["inverse_dynamics"])
    with pytest.raises(symgen.errors.RequestError, match="no runtime parameters"):
        symgen.jax(two_link, parameters=True)
