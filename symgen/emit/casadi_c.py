"""External functions for CasADi's C interface: the folder ``casadi`` of a package.

``casadi/<robot>.c`` exports ``<robot>_inverse_dynamics`` and ``<robot>_forward_dynamics`` with
sizes and sparsity of arguments and results, and ``jac_<robot>_...`` with the exact derivatives by
every argument.  They call the fast kernels of the package for one sample and write to memory of the
caller alone, so that threads may share them.

CasADi orders entries by column, kernels by row; `Compressed.order` maps one to the other.

CasADi does not know unit quaternions: it takes steps from q to any nq numbers.  So these are
functions of the normalized q, as in `symgen.frameworks.functions`, and their derivatives by q are
those of the kernel, in the tangent space, times d(tangent)/dq: (n, n) becomes (n, nq).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from symgen.emit import compiled
from symgen.emit.bundle import Library
from symgen.emit.kernels import Array, Kernel
from symgen.emit.module import Module
from symgen.emit.templates import Templates

FOLDER = "casadi"
IN_CASADI: Mapping[str, tuple[str, str, str]] = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "tau"),
}
"""Arguments of the external functions."""


@dataclass(frozen=True)
class Compressed:
    """Entries of a matrix that can differ from 0, column by column."""

    rows: int
    columns: int
    entries: tuple[tuple[int, int], ...]

    @property
    def compressed(self) -> list[int]:
        """Sizes, starts of columns, and rows: CasADi's format."""
        begins = [sum(j < k for _, j in self.entries) for k in range(self.columns + 1)]
        return [self.rows, self.columns, *begins, *(i for i, _ in self.entries)]

    @property
    def order(self) -> tuple[int, ...]:
        """Positions of the entries in the matrix in row-major order."""
        return tuple(i * self.columns + j for i, j in self.entries)


@dataclass(frozen=True)
class Port:
    """An argument or a result; results start at `offset` in the workspace."""

    name: str
    sparsity: Compressed
    offset: int = 0


@dataclass(frozen=True)
class Call:
    """A call of a kernel, with the positions of its results in the workspace."""

    kernel: Kernel
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class Product:
    """``w[to] = -w[left] w[right]``, of matrices (rows, inner) and (inner, columns)."""

    to: int
    left: int
    right: int
    rows: int
    inner: int
    columns: int


@dataclass(frozen=True)
class External:
    """An external function of CasADi.

    With quaternions, `unit` is the position of the normalized q in the workspace, and `chart` (to,
    of) computes ``w[to] = w[of] d(tangent)/dq`` from derivatives in the tangent space.
    """

    name: str
    summary: str
    arguments: tuple[Port, ...]
    results: tuple[Port, ...]
    calls: tuple[Call, ...]
    products: tuple[Product, ...]
    room: int
    unit: int | None = None
    chart: tuple[int, int] | None = None

    def inputs_of(self, kernel: Kernel) -> list[str]:
        """Return the names of the arrays that a kernel reads."""
        return [
            "unit" if self.unit is not None and x.name == "q" else x.name for x in kernel.inputs
        ]

    @property
    def used(self) -> list[tuple[int, Port]]:
        """The arguments that kernels read, and their numbers."""
        read = {array.name for call in self.calls for array in call.kernel.inputs}
        return [(k, port) for k, port in enumerate(self.arguments) if port.name in read]


def files(module: Module, templates: Templates) -> dict[str, str]:
    """Return the source file."""
    externals = list(_externals(module))
    sparsities = list(
        dict.fromkeys(port.sparsity for f in externals for port in (*f.arguments, *f.results))
    )
    orders = list(dict.fromkeys(p.sparsity.order for f in externals for p in f.results))
    source = templates.render(
        "casadi/externals.c",
        **module.values(),
        externals=externals,
        sparsities=sparsities,
        orders=orders,
        sources=library(module).sources,
        zeros=max((p.sparsity.rows for f in externals for p in f.arguments), default=1),
        n=module.metadata.n,
        nq=module.metadata.nq,
        quaternions=module.metadata.quaternions,
        plain=[
            (entry, *velocities)
            for entry, velocities in enumerate(module.metadata.velocities_of_entries)
            if len(velocities) == 1
        ],
    )
    return {_source(module): source} if externals else {}


def library(module: Module) -> Library:
    """Return the shared library of the source and the kernels that it calls."""
    called = [call.kernel for f in _externals(module) for call in f.calls]
    sources = compiled.sources_of(module, called)
    return Library(f"{FOLDER}/{module.robot}", (_source(module), *sources))


def _source(module: Module) -> str:
    return f"{FOLDER}/{module.robot}.c"


def _externals(module: Module) -> Iterator[External]:
    kernels = {(kernel.formulation, kernel.function.name): kernel for kernel in module.kernels}
    serving = {f.name: kernels[f.formulation, f.name] for f in module.functions}
    for name in IN_CASADI:
        if name in serving:
            value = _value(module, serving[name])
            yield value
            jacobian = _jacobian(module, name, value, serving)
            if jacobian is not None:
                yield jacobian


def _value(module: Module, kernel: Kernel) -> External:
    function = next(f for f in module.functions if f.name == kernel.function.name)
    (result,) = function.results
    arguments = tuple(Port(a.name, _full(a.size)) for a in function.inputs if a.size)
    unit, room = _unit(module, result.size)
    return External(
        f"{module.robot}_{function.name}", function.summary, arguments,
        (Port(result.name, _full(result.size)),), (Call(kernel, (0,)),), (), room, unit,
    )  # fmt: skip


def _unit(module: Module, room: int) -> tuple[int | None, int]:
    """Return the position of the normalized q, if any, and the size of the workspace with it."""
    metadata = module.metadata
    return (room, room + metadata.nq) if metadata.quaternions else (None, room)


def _jacobian(
    module: Module, name: str, value: External, serving: Mapping[str, Kernel]
) -> External | None:
    """Return the derivatives by all arguments; None if a function that they need was not built."""
    arguments = {port.name: port.sparsity.rows for port in value.arguments}
    needed = [f"{name}_derivatives"]
    if "loads" in arguments:
        needed.append("inverse_dynamics_load_derivatives")
    if "parameters" in arguments:
        needed.append(f"{name}_parameter_derivatives")
    if any(function not in serving for function in needed):
        return None
    room, calls, slopes = 0, list[Call](), dict[str, tuple[int, Compressed]]()
    n = module.metadata.n
    for function in needed:
        kernel, offsets = serving[function], list[int]()
        for array in kernel.outputs:
            offsets.append(room)
            slopes[array.name] = room, _of(module, kernel, array, n)
            room += array.size
        calls.append(Call(kernel, tuple(offsets)))
    result, products, blocks = value.results[0], list[Product](), list[Port]()
    unit, room = _unit(module, room)
    chart = None
    if unit is not None:
        slope = f"d{result.name}_dq"
        at, tangent = slopes[slope]
        chart = room, at
        slopes[slope] = room, _charted(module, tangent)
        room += n * module.metadata.nq
    for argument, size in arguments.items():
        slope = f"d{result.name}_d{argument}"
        if slope not in slopes:  # M qdd + ... = tau + loads: by loads through tau
            left, right = slopes["dqdd_dtau"][0], slopes["dtau_dloads"][0]
            slopes[slope] = room, _full(n, size)
            products.append(Product(room, left, right, n, n, size))
            room += n * size
        offset, sparsity = slopes[slope]
        blocks.append(Port(f"jac_{result.name}_{argument}", sparsity, offset))
    return External(
        f"jac_{value.name}", f"Derivatives of {value.name} by every argument.",
        (*value.arguments, Port(f"out_{result.name}", result.sparsity)),
        tuple(blocks), tuple(calls), tuple(products), room, unit, chart,
    )  # fmt: skip


def _charted(module: Module, tangent: Compressed) -> Compressed:
    """Return the sparsity of derivatives by q, from that of derivatives in the tangent space."""
    sources = module.metadata.velocities_of_entries
    filled = set(tangent.entries)
    entries = (
        (i, j)
        for j, columns in enumerate(sources)
        for i in range(tangent.rows)
        if any((i, k) in filled for k in columns)
    )
    return Compressed(tangent.rows, len(sources), tuple(entries))


def _full(rows: int, columns: int = 1) -> Compressed:
    return Compressed(rows, columns, tuple((i, j) for j in range(columns) for i in range(rows)))


def _of(module: Module, kernel: Kernel, array: Array, n: int) -> Compressed:
    """Return the sparsity of a result with a row for every coordinate."""
    columns = array.size // n
    zeros: Sequence[int] = kernel.zeros[array.name] if kernel.line is not None else ()
    if kernel.line is None and kernel.function.packable and array.shape == (n, n):
        zeros = sorted(set(range(array.size)) - set(module.metadata.related))
    out = {divmod(position, columns) for position in zeros}
    kept = tuple(e for e in _full(n, columns).entries if e not in out)
    return Compressed(n, columns, kept)
