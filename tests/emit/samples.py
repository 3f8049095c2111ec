"""Small programs and packages, written by hand or drawn at random."""

from __future__ import annotations

import random

from symgen.algebra.graph import Graph
from symgen.algebra.nodes import Scalar
from symgen.description.model import Limits
from symgen.emit.bundle import Fact, Forms, ModuleMetadata, Package
from symgen.program.builder import ProgramBuilder
from symgen.program.functions import function_named

NOTES = {
    "CF-1": "m_11 = m1 l1^2 + m2 (L1^2 + l2^2 + 2 L1 l2 cos q2)",
    "CF-2": "tau = M qdd + h + g",
    "CF-3": "T = qd' M qd / 2",
}


class Writer:
    """A builder over a graph, with the inputs of one function of the table declared."""

    def __init__(self, function, sizes, parameters):
        self.graph = Graph()
        self.builder = ProgramBuilder(self.graph, taken=parameters)
        self.function = function_named(function)
        self.inputs: dict[str, tuple[Scalar, ...]] = {}
        for argument in (*self.function.arguments, *self.function.options):
            shape = argument.sizes(sizes)
            names = [f"{argument.name}{i + 1}" for i in range(_size(shape))]
            self.inputs[argument.name] = self.builder.input(argument.name, shape, names)
        self.builder.parameters(parameters)
        self.parameters = [self.graph.symbol(name) for name in parameters]
        self.sizes = sizes

    def finish(self, formulation, *results):
        for argument, entries in zip(self.function.results, results, strict=True):
            self.builder.output(argument.name, argument.sizes(self.sizes), entries)
        return self.builder.build("robot", formulation, self.function.name, NOTES)


def _size(shape):
    size = 1
    for length in shape:
        size *= length
    return size


def facts(**more):
    values = {
        "inertial_parameters": [], "joint_terms": {}, "link_parents": (), "point_links": (),
        "actuated": (),
        "gravity": [0.0, 0.0, 0.0], "branches": (), "branch_parents": (), "joint_branches": (),
        "junctions": (), "leaves": (), "output_units": (), "output_sparsity": {}, "condition": 1.0,
        **more,
    }  # fmt: skip
    return {name: Fact("Any", value) for name, value in values.items()}


COUNTED = ("loads", "points", "parameters", "outputs", "constraints", "loops")


def metadata(name="two_link", n=2, **more):
    counted = {f"n_{x}": len(more.get(f"{x[:-1]}_names", ())) for x in COUNTED}
    counted |= {"n_links": n, **dict.fromkeys(("n", "nq", "n_joints", "n_free"), n)}
    zeros = dict.fromkeys(("n_prescribed", "n_times", "n_motion_multipliers"), 0)
    values = {
        "name": name, "description": "Planar arm",
        "sizes": {**counted, **zeros, "10 n_joints": 10 * n},
        "coordinate_names": tuple(f"joint_{i + 1}" for i in range(n)),
        "link_names": tuple(f"link_{i + 1}" for i in range(n)),
        "load_names": (), "point_names": (), "parameter_names": (), "default_parameters": (),
        "limits": tuple(Limits(-1.0, None, None, 2.5) for _ in range(n)),
        "model_hash": "0123abcd", "symgen_version": "0.1", "joint_parents": tuple(range(n)),
        "facts": facts(), **more,
    }  # fmt: skip
    return ModuleMetadata(**values)


ARM = metadata(
    load_names=("tip",),
    parameter_names=("m2", "lambda"),
    default_parameters=(0.5, 9.81),
    facts=facts(
        inertial_parameters=[0.1 * i for i in range(20)], branches=((1, 2),), branch_parents=(0,),
        joint_branches=((1, 2),), leaves=(2,),
    ),
    operation_counts={"closed_form": {
        "mass_matrix": {"additions": 3, "multiplications": 4, "divisions": 0, "functions": 1},
    }},
)  # fmt: skip
ARM_FUNCTIONS = (
    "inverse_dynamics", "inverse_dynamics_derivatives", "inverse_dynamics_load_derivatives",
    "mass_matrix", "kinetic_energy", "potential_energy", "forward_kinematics",
)  # fmt: skip


def arm(function, formulation="closed_form"):
    """One function of the arm; `lambda` is gravity, under a name that no language allows."""
    w = Writer(function, ARM.sizes, ARM.parameter_names)
    b, g = w.builder, w.graph
    q1, q2 = w.inputs["q"]
    m2, gravity = w.parameters
    length, l1, l2, m1 = (g.constant(x) for x in (0.4, 0.2, 0.25, 0.7))
    with b.step("forward", "joint_1"):
        c1 = b.let("c_1", g.function("cos", q1), "CF-1")
        s1 = b.let("s_1", g.function("sin", q1), "CF-1")
    with b.step("forward", "joint_2"):
        c2 = b.let("c_2", g.function("cos", q2), "CF-1")
        s2 = b.let("s_2", g.function("sin", q2), "CF-1")
        c12 = b.let("c_12", c1 * c2 - s1 * s2, "CF-1")
        s12 = b.let("s_12", s1 * c2 + c1 * s2, "CF-1")
    with b.step("mass matrix"):
        coupling = b.let("k", m2 * length * l2, "CF-1")
        m22 = b.let("m_22", m2 * l2 * l2, "CF-1")
        m12 = b.let("m_12", m22 + coupling * c2, "CF-1")
        m11 = b.let("m_11", m1 * l1 * l1 + m2 * length * length + 2.0 * coupling * c2 + m22, "CF-1")
    if function == "mass_matrix":
        return w.finish(formulation, [m11, m12, m12, m22])
    if function == "kinetic_energy":
        qd1, qd2 = w.inputs["qd"]
        half = g.constant(0.5)
        with b.step("energy"):
            energy = b.let(
                "T", half * (m11 * qd1 * qd1 + 2.0 * m12 * qd1 * qd2 + m22 * qd2 * qd2), "CF-3"
            )
        return w.finish(formulation, [energy])
    height = m1 * l1 * s1 + m2 * (length * s1 + l2 * s12)
    if function == "potential_energy":
        return w.finish(formulation, [gravity * height])
    jx = [-(length * s1) - l2 * s12, -(l2 * s12)]
    jy = [length * c1 + l2 * c12, l2 * c12]
    zero, one = g.zero, g.one
    if function == "forward_kinematics":
        first = [c1, -s1, zero, length * c1, s1, c1, zero, length * s1]
        second = [c12, -s12, zero, jy[0], s12, c12, zero, -jx[0]]
        last = [zero, zero, one, zero, zero, zero, zero, one]
        return w.finish(formulation, [*first, *last, *second, *last])
    if function == "inverse_dynamics_load_derivatives":
        rows = [[-x, -y, zero, zero, zero, -one] for x, y in zip(jx, jy, strict=True)]
        return w.finish(formulation, [entry for row in rows for entry in row])
    qd1, qd2 = w.inputs["qd"]
    qdd1, qdd2 = w.inputs["qdd"]
    fx, fy, _, _, _, nz = w.inputs["loads"]
    with b.step("backward", "joint_2"):
        g2 = b.let("g_2", gravity * m2 * l2 * c12, "CF-2")
        h = b.let("h", coupling * s2, "CF-2")
        load2 = fx * jx[1] + fy * jy[1] + nz
        tau2 = b.let("tau_2", m12 * qdd1 + m22 * qdd2 + h * qd1 * qd1 + g2 - load2, "CF-2")
    with b.step("backward", "joint_1"):
        g1 = gravity * (m1 * l1 * c1 + m2 * length * c1) + g2
        h1 = h * (2.0 * qd1 * qd2 + qd2 * qd2)
        load1 = fx * jx[0] + fy * jy[0] + nz
        tau1 = b.let("tau_1", m11 * qdd1 + m12 * qdd2 - h1 + g1 - load1, "CF-2")
    if function == "inverse_dynamics":
        return w.finish(formulation, [tau1, tau2])
    blocks = []
    for argument in ("q", "qd", "qdd"):
        slopes = g.derivatives(w.inputs[argument])
        blocks.append([slopes.of(x).get(k, zero) for x in (tau1, tau2) for k in range(2)])
    return w.finish(formulation, [tau1, tau2], *blocks)


def arm_package():
    """All functions of the arm by one formulation, some of them by another."""
    both = ("mass_matrix", "inverse_dynamics")
    return Package(
        metadata=ARM,
        programs={
            "closed_form": {name: Forms(arm(name)) for name in ARM_FUNCTIONS},
            "recursion": {name: Forms(arm(name, "recursion")) for name in both},
        },
        fastest={name: "recursion" if name in both else "closed_form" for name in ARM_FUNCTIONS},
        missing={"coriolis_matrix": "coriolis_matrix was not built: symgen build two_link.yaml"},
    )


def package(programs, facts):
    formulation = programs[0].formulation
    return Package(
        metadata=facts,
        programs={formulation: {program.function: Forms(program) for program in programs}},
        fastest={program.function: formulation for program in programs},
    )


FUNCTIONS_OF_GRAPH = {
    "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2, "exp": 1,
    "log": 1, "tanh": 1, "sqrt": 1, "abs": 1, "sign": 1, "pow": 2,
}  # fmt: skip


def apply(graph, name, x, y):
    """A function of the graph, of arguments that it is real and smooth for."""
    if name in ("asin", "acos"):
        return graph.function(name, 0.9 * graph.function("sin", x))
    if name == "log" or name == "sqrt":
        return graph.function(name, 1.5 + graph.function("cos", x))
    if name == "tan":
        return graph.function(name, graph.function("tanh", x))
    if name == "exp":
        return graph.function(name, graph.function("sin", x + y))
    if name == "pow":
        return graph.function(name, 1.5 + graph.function("cos", x), graph.function("tanh", y))
    return graph.function(name, *(x, y)[: FUNCTIONS_OF_GRAPH[name]])


def every_function():
    """A robot whose torques are all functions of the graph; its energy has all the operators."""
    n = len(FUNCTIONS_OF_GRAPH)
    facts = metadata("functions", n)
    w = Writer("inverse_dynamics", facts.sizes, ())
    q, qd, qdd = w.inputs["q"], w.inputs["qd"], w.inputs["qdd"]
    names = list(FUNCTIONS_OF_GRAPH)
    torques = [apply(w.graph, name, q[i], qd[i]) - qdd[i] for i, name in enumerate(names)]
    arithmetic = Writer("kinetic_energy", facts.sizes, ())
    x, y = arithmetic.inputs["q"], arithmetic.inputs["qd"]
    energy = operators(arithmetic.graph, x[0], y[1], x[2])
    programs = [w.finish("newton_euler", torques), arithmetic.finish("newton_euler", [energy])]
    return package(programs, facts)


def operators(g, a, b, c):
    """Every operator as either operand of every other one."""
    total = g.zero
    makers = (g.add, g.sub, g.mul, lambda x, y: g.div(x, 2.5 + g.mul(y, y)))
    for outer in makers:
        for inner in makers:
            total = total + outer(inner(a, b), c) * 0.3 + outer(c, inner(a, b))
            total = total - outer(g.neg(inner(b, c)), g.neg(a))
    return total


def random_package(seed, nodes, n=4):
    """Random graphs of `nodes` operations: named and nameless, shared and not."""
    rng = random.Random(seed)
    names, values = ("a", "sin"), (1.5, -0.25)
    facts = metadata(f"random_{seed}", n, parameter_names=names, default_parameters=values)
    programs = []
    for function in ("inverse_dynamics", "mass_matrix"):
        w = Writer(function, facts.sizes, facts.parameter_names)
        pool = [entry for entries in w.inputs.values() for entry in entries] + w.parameters
        made = 0
        while made < nodes:
            with w.builder.step(rng.choice(["forward", "backward"]), rng.choice(["", "joint_1"])):
                for _ in range(rng.randint(1, 6)):
                    x, y = (rng.choice(pool[-40:] if rng.random() < 0.8 else pool) for _ in "xy")
                    value = _combined(rng, w.graph, x, y)
                    if rng.random() < 0.4:
                        awkward = rng.random() < 0.05 and made < 1000
                        name = rng.choice(["w", "double", "q1"]) if awkward else f"omega_{made}"
                        value = w.builder.let(name, value, "N-1")
                    pool.append(value)
                    made += 1
        size = n if function == "inverse_dynamics" else n * n
        results = [rng.choice([*pool[-30:], w.graph.zero, w.graph.one]) for _ in range(size)]
        programs.append(w.finish("newton_euler", results))
    return package(programs, facts)


def _combined(rng, g, x, y):
    kind = rng.randrange(8)
    if kind == 0:
        return apply(g, rng.choice(list(FUNCTIONS_OF_GRAPH)), x, y)
    if kind == 1:
        return 0.5 * (x - y)
    if kind == 2:
        return g.function("sin", x) * y
    if kind == 3:
        return x / (1.25 + g.function("cos", y))
    if kind == 4:
        return -x
    if kind == 5:
        return rng.uniform(-1.0, 1.0) * x + rng.uniform(-1.0, 1.0)
    return g.function("tanh", x) - 0.75 * y if kind == 6 else x * g.function("tanh", y)
