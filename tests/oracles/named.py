"""What a recursion names on small robots, with complex steps, beside the lines of its programs.

A matrix comes as a pair with its derivatives, which have the variables in front.  Vectors are
columns."""

from collections import Counter
from functools import reduce
from types import SimpleNamespace

import numpy as np

from symgen.algebra.graph import Graph
from symgen.algebra.linear import Matrix, Vector
from symgen.formulations import declare_inputs, derive, formulation_named
from symgen.kinematics.tree import build_tree
from symgen.program.builder import ProgramBuilder
from symgen.program.program import Statement
from tests.modules import described
from tests.oracles.comparison import agrees, state_of
from tests.oracles.lines import slopes_of, values_of

ROBOTS = {"chain": ("base", "one", "two", "three"), "tree": ("base", "one", "one", "two")}
LINKS = ("one", "two", "three", "four")
PARAMETERS = ("w", "tilt", "mass", "h", "J", "G")
LIMIT = 1e-10


def robot(name):
    """A chain or a branched tree of general links; the slide is prescribed, two loads act."""
    rng = np.random.default_rng(1)
    kinds = ("revolute", "prismatic", "revolute", "revolute")
    lines = ["symgen: 1", f"name: {name}", "gravity: [1, -2, -9]"]
    lines += ["parameters: {w: 0.3, tilt: 0.4, mass: 1.3, h: 0.2, J: 2.1, G: 0.1}", "joints:"]
    for k, (joint, parent) in enumerate(zip(LINKS, ROBOTS[name], strict=True)):
        root = rng.normal(size=(3, 3))
        tensor = (root @ root.T + np.eye(3)).tolist()
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = tensor
        m, h, J = ("mass", "h", f"J + {xx}") if k == 2 else (1.5 + k, 0.1 * k, xx)
        x, y, r, p = (round(float(entry), 3) for entry in rng.uniform(-1, 1, 4))
        axis = [round(float(entry), 3) for entry in rng.uniform(0.2, 1, 3)]
        z, roll = ("w", "tilt") if k == 2 else (0.2, 0.7)
        lines.append(
            f"  - {{name: {joint}, type: {kinds[k]}, parent: {parent}, prescribed: {k == 1}, "
            f"axis: {axis}, origin: {{xyz: [{x}, {y}, {z}], rpy: [{roll}, {r}, {p}]}}, "
            f"rotor_inertia: {'G' if k in (1, 2) else 0.1}, damping: 0.2, link: {{mass: {m}, "
            f"com: [{h}, {y}, {x}], inertia: {{xx: {J}, yy: {yy}, zz: {zz}, xy: {xy}, "
            f"xz: {xz}, yz: {yz}}}}}}}"
        )
    lines += ["loads:", "  - {name: tip, link: four, point: [0.1, -0.2, 0.3]}"]
    return described("\n".join([*lines, "  - {name: mid, link: two, point: [0.3, 0.2, 0]}"]))


class Recorder(ProgramBuilder):
    """Keeps every scalar that a recursion names, what it leaves without a name among them."""

    def __init__(self, *args):
        super().__init__(*args)
        self.nodes = {}

    def let(self, name, value, note):
        result = super().let(name, value, note)
        self.keep(name, result)
        return result

    def keep(self, name, value):
        """Entries of a vector are called x_y, of a matrix x_23."""
        if isinstance(value, Vector):
            self.nodes |= {f"{name}_{axis}": part for axis, part in zip("xyz", value, strict=True)}
        elif isinstance(value, Matrix):
            rows = [(i, *entry) for i, row in enumerate(value.rows) for entry in enumerate(row)]
            self.nodes |= {f"{name}_{i + 1}{k + 1}": entry for i, k, entry in rows}
        else:
            self.nodes[name] = value


class Named:
    """What a recursion names with complex steps, and the lines of programs to compare with."""

    def __init__(self, name, formulation, functions, by, write, declared="inverse_dynamics"):
        description = robot(name)
        self.tree = build_tree(description, Graph(), PARAMETERS)
        self.state, self.seen = state_of(description, 3), Counter()
        parameters, self.lines = {x: description.parameter_values[x] for x in PARAMETERS}, {}
        for function in functions:
            program = derive(self.tree, formulation_named(formulation), function)
            self.lines |= values_of(program, self.state, parameters)
        if declared == "inverse_dynamics" and "qdd_1" in self.lines:  # of forward dynamics
            found = [self.lines.get(f"qdd_{k + 1}", x) for k, x in enumerate(self.state["x"])]
            self.state["qdd"] = np.array(found)
        b = Recorder(self.tree.algebra)
        write(self.tree, b, declare_inputs(self.tree, b, declared))
        statements = [Statement(name, node, "") for name, node in b.nodes.items()]
        stub = SimpleNamespace(inputs=b.inputs, statements=statements)
        self.values = values_of(stub, self.state, parameters)
        slopes = [slopes_of(stub, self.state, parameters, x) for x in by]
        self.slopes = {x: np.concatenate([s[x] for s in slopes]) for x in self.values}
        names = {x: [f"{x}_{k + 1}" for k in range(self.tree.n)] for x in by}
        names["parameters"] = [*PARAMETERS]
        self.variables = [name for x in by for name in names[x]]

    def __call__(self, labels):
        """A matrix and its derivatives; 0 where nothing has that name."""
        shape, flat = np.shape(labels), np.ravel(labels)
        none = np.zeros(len(self.variables))
        value = np.array([self.values.get(x, 0.0) for x in flat], float).reshape(shape)
        slope = np.array([self.slopes.get(x, none) for x in flat]).T.reshape(-1, *shape)
        return value, slope

    def check(self, labels, printed, suffix=""):
        """A printed derivative, (variables, rows, columns)."""
        assert agrees(printed, self(labels)[1], LIMIT), labels
        scale = max(1.0, np.abs(printed).max())
        for place, label in np.ndenumerate(labels):
            for k, x in enumerate(self.variables):
                line = self.lines.get(f"d_{label}{suffix}_d{x}")
                if line is not None:
                    assert abs(line - printed[(k, *place)]) <= LIMIT * scale, (label, x)
                    self.seen[label.split("_")[0]] += 1

    def children(self, k):
        """The bodies that body k carries directly."""
        return [joint.number for joint in self.tree.joints if joint.parent == k]

    def numbers(self):
        """The numbers of the bodies."""
        return range(1, self.tree.n + 1)


def vector(*names):
    """Labels of a column made of vectors."""
    return np.array([[f"{name}_{axis}"] for name in names for axis in "xyz"])


def motions(name):
    """Labels of a 6-vector of velocities."""
    return vector(f"{name}_w", f"{name}_v")


def efforts(name):
    """Labels of a 6-vector of momenta or forces."""
    return vector(f"{name}_n", f"{name}_f")


def matrix(name, rows, columns, symmetric=False):
    """Labels of a matrix, or of a symmetric one by what is above the diagonal."""
    pairs = [[(i, k) for k in range(1, columns + 1)] for i in range(1, rows + 1)]
    swap = sorted if symmetric else tuple
    return np.array([["{}_{}{}".format(name, *swap(pair)) for pair in row] for row in pairs])


# -------------------------------------------------------------------------------------- pairs


def times(*factors):
    """A product and its derivative, of matrices with their derivatives."""
    kinds = [[f[j == i] for j, f in enumerate(factors)] for i in range(len(factors))]
    return reduce(np.matmul, [f[0] for f in factors]), sum(reduce(np.matmul, x) for x in kinds)


def plus(*terms):
    """A sum of matrices with their derivatives."""
    return tuple(map(sum, zip(*terms, strict=True)))


def transposed(x):
    """The transpose, and that of the derivatives."""
    return tuple(np.swapaxes(part, -1, -2) for part in x)


def block(rows):
    """A matrix of blocks; None is 0."""
    zero = next(x for row in rows for x in row if x is not None)
    zero = tuple(np.zeros_like(part) for part in zero)
    filled = [[zero if x is None else x for x in row] for row in rows]
    return tuple(np.block([[x[i] for x in row] for row in filled]) for i in (0, 1))


def cross(x):
    """The matrix of v x, of a column v."""
    x = tuple(part[..., 0] for part in x)
    return tuple(np.swapaxes(np.cross(part[..., None, :], np.eye(3)), -1, -2) for part in x)
