"""Equations as text and as LaTeX: one expression, one matrix, or a matrix entry by entry.

Text and LaTeX share one measure: matrices wider than `WIDTH` characters as text are written entry
by entry, in LaTeX as one align* environment whose lines fit on a slide.  In LaTeX every result has
a symbol of the field, and its entries count from 1:

    tau, tau^bias, tau^gravity      inverse_dynamics, bias_forces, gravity_forces
    q with two dots, y              forward_dynamics, hybrid_dynamics
    o^output                        outputs
    M, C, Y                         mass_matrix, coriolis_matrix, regressor
    E_kin, E_pot                    kinetic_energy, potential_energy
    T^link, J^link                  forward_kinematics, jacobians (rows v_x ... omega_z)
    w_i                             joint_wrenches (f_x ... n_z of joint i)
    r^point, v^point, a^point       point_motion
    r^com, h^com                    center_of_mass, centroidal_momentum (p_x ... L_z)
    A^com                           centroidal_momentum_matrix
    nu^link                         link_motion (rows v_x ... omega_z), with a dot its rate

Derivatives are fractions of these symbols.  Results without a symbol keep their names.

`code` and `code_name` write the same as expressions and variables of programming languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import sympy
from sympy.printing.conventions import split_super_sub
from sympy.printing.latex import LatexPrinter
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.pretty_symbology import pretty_use_unicode
from sympy.printing.pretty.stringpict import prettyForm, stringPict
from sympy.printing.str import StrPrinter

from symgen.algebra.blackboard import latex_names
from symgen.kinematics.tree import KinematicTree
from symgen.program.program import Program
from symgen.showing.tree import WIDTH

SLIDE = 80
"""Largest number of characters, as text, of a line of an align* environment."""
Inputs = Mapping[str, Sequence[Any]]
"""Name of an input of a program -> its symbols."""
Names = Mapping[str, Sequence[str]]
"""Kind of an axis -> names of its indices, where these are not numbers."""
Label = Callable[[tuple[int, ...]], str]
"""Indices into a matrix, none for all of it -> its symbol in LaTeX."""


def inputs_of(program: Program[Any]) -> Inputs:
    """Return the symbols of a program's arguments."""
    return {array.name: array.symbols for array in program.inputs}


def indexed(name: str, index: Sequence[int | str]) -> str:
    """Return a part of an array, counted from 1: ``dtau_dq[1, 2]`` at the index (0, 1)."""
    places = (str(i + 1) if isinstance(i, int) else i for i in index)
    return f"{name}[{', '.join(places)}]" if index else name


_PLACES = (
    re.compile(r"[mMIJ](?![a-z]*_f[xyz]$|[a-z]*_n[xyz]$)\w*"),  # masses, moments of inertia
    re.compile(r"g"),
    re.compile(r"(?![sc]_-?\d|(?:q|qd|qdd|tau)_\d+$|\w+_[fn][xyz]$)\w+"),  # lengths and others
    re.compile(r"[sc]_-?\d[-,\d]*"),  # abbreviated sines and cosines
)
"""Patterns of symbols in the order of textbooks; sums and then motion and loads follow."""


def _place(factor: Any) -> int:
    """Return the place of a factor in a product: ``2 m_2 g l_2 cos(q_1) (sum) qd_1``."""
    base = factor.as_base_exp()[0]
    if base.is_number:
        return -1
    if base.is_Symbol:
        matches = (k for k, kind in enumerate(_PLACES) if kind.fullmatch(base.name))
        return next(matches, len(_PLACES) + 1)
    return len(_PLACES) if base.is_Add else len(_PLACES) - 1


class _InOrder:
    """Printer of products in the order of `_place`, for each of SymPy's printers."""

    def _as_ordered_terms(self, expr: Any, order: str | None = None) -> Any:
        return expr.as_ordered_terms()  # `order` is that of factors alone

    def _print_Mul(self, expr: Any) -> Any:
        number, product = expr.as_coeff_Mul()
        factors = sorted(product.as_ordered_factors(), key=_place)
        numbers = [] if number == 1 else [number]
        ordered = sympy.Mul._from_args([*numbers, *factors])
        return super()._print_Mul(ordered)  # type: ignore[misc]


class _Printer(_InOrder, PrettyPrinter):  # type: ignore[misc]  # SymPy has no types
    """SymPy's printer with subscripts for numbers only: Unicode has no subscript y."""

    def _print_Symbol(self, e: Any, bold_name: bool = False) -> Any:
        if all(part.isdigit() for part in split_super_sub(e.name)[2]):
            return super()._print_Symbol(e, bold_name)
        return prettyForm(e.name)


def _printer() -> PrettyPrinter:
    return _Printer({"use_unicode": True, "wrap_line": False, "order": "none"})


def pretty(expression: Any) -> str:
    """Return the expression or matrix as text, with raised powers and fractions."""
    before = pretty_use_unicode(True)
    try:
        return str(_printer().doprint(expression))
    finally:
        pretty_use_unicode(before)


def in_line(expression: Any) -> str:
    """Return the expression in one line, with the symbols of `pretty`: L₁**2*m₂."""
    return str(_LinePrinter({"order": "none"}).doprint(expression))


class _LinePrinter(_InOrder, StrPrinter):  # type: ignore[misc]
    def _print_Symbol(self, symbol: Any) -> str:
        return pretty(symbol)


_CODE = {"python": sympy.pycode, "c": sympy.ccode, "javascript": sympy.jscode}
CODE_STYLES = tuple(_CODE)
_COMMENTS = {"latex": "% ", "python": "# ", "c": "// ", "javascript": "// "}


def comment(style: str) -> str:
    """Return the beginning of a comment in a style, "" for text."""
    return _COMMENTS.get(style, "")


def assignment(name: str, value: Any, style: str) -> str:
    """Return ``name = value`` in a programming language, with functions such as ``cos``."""
    options = {"fully_qualified_modules": False} if style == "python" else {}
    text = " ".join(_CODE[style](value, **options).split())
    return f"{name} = {text}{'' if style == 'python' else ';'}"


def width(text: str) -> int:
    """Return the length of the longest line."""
    return max(map(len, text.splitlines()))


def fits(text: str) -> bool:
    """Return whether every line fits on a terminal; typeset, this is about the width of a page."""
    return width(text) <= WIDTH


def pretty_sum(expression: Any) -> str:
    """Return a sum on as many lines as its terms need."""
    before = pretty_use_unicode(True)
    try:
        rows = "\n\n".join(map(str, _lines(expression))).splitlines()
        return "\n".join(row.rstrip() for row in rows)
    finally:
        pretty_use_unicode(before)


def _lines(expression: Any) -> Iterator[Any]:
    """Yield lines with as many terms as fit, with aligned fraction bars."""
    line: Any = None
    for sign, term in _terms(expression):
        text = stringPict(in_line(term)) if not fits(pretty(term)) else _printer()._print(term)
        signed = stringPict(*text.left("  " if line is None and sign == "+" else f"{sign} "))
        if line is None:
            line = signed
        elif line.width() + signed.width() < WIDTH:
            line = stringPict(*line.right(" ", signed))
        else:
            yield line
            line = signed
    yield line


def _terms(expression: Any) -> Iterator[tuple[str, Any]]:
    """Yield the terms with their signs; bracketed sums too wide for a line are expanded."""
    for term in expression.as_ordered_terms():
        sums = [factor for factor in sympy.Mul.make_args(term) if factor.is_Add]
        if len(sums) == 1 and not fits(pretty(term)):
            yield from _terms(sympy.Add(*(term / sums[0] * part for part in sums[0].args)))
            continue
        negative = term.could_extract_minus_sign()
        yield ("-", -term) if negative else ("+", term)


def latex(value: Any, inputs: Inputs) -> str:
    """Return an expression or a matrix in LaTeX, without an environment."""
    names = latex_names(inputs, value.free_symbols)
    names |= {
        symbol: f"{split[1]}_{{{split[2]}}}"
        for symbol in value.free_symbols
        if (split := _LETTERED.fullmatch(symbol.name)) and not _is_greek(symbol.name)
    }
    options = {"mat_str": "bmatrix", "mat_delim": "", "fold_func_brackets": True}
    style = {**options, "symbol_names": names, "mul_symbol": r" \, ", "order": "none"}
    return str(_LatexPrinter(style).doprint(value))


_LETTERED = re.compile(r"(?!d)([A-Za-z])((?:[a-z]|[xyz]{2})\d*)")
"""Names that are typed without the underscore of their subscript: mp, lc2, Izz1."""


def _is_greek(name: str) -> bool:
    letters = name.rstrip("0123456789")
    return str(sympy.latex(sympy.Symbol(letters))) != letters


class _LatexPrinter(_InOrder, LatexPrinter):  # type: ignore[misc]
    def _print_Mul(self, expr: Any) -> str:
        if not expr.could_extract_minus_sign():
            return str(super()._print_Mul(expr))
        text = self._print(-expr)
        return rf"- \left({text}\right)" if (-expr).is_Add else f"- {text}"


def latex_equation(label: Label, value: Any, inputs: Inputs) -> str:
    """Return ``symbol = value`` where that fits, else an align* environment, entry by entry."""
    if fits(pretty(value)):
        return f"{label(())} = {latex(value, inputs)}"
    if not isinstance(value, sympy.MatrixBase):
        return aligned(_latex_sum(label(()), value, inputs))
    places = [place for place in product(*map(range, value.shape)) if value[place] != 0]
    rows = [row for at in places for row in _latex_sum(label(at), value[at], inputs)]
    if not places:
        rows = [f"{label(())} &= 0"]
    elif len(places) < len(value):
        rows.append(rf"\text{{other entries of }} {label(())} &= 0")
    return aligned(rows)


def aligned(rows: Sequence[str]) -> str:
    """Return the rows, each with its &, as an align* environment."""
    body = "".join(f"  {row} \\\\\n" for row in rows[:-1])
    return f"\\begin{{align*}}\n{body}  {rows[-1]}\n\\end{{align*}}"


def _latex_sum(label: str, expression: Any, inputs: Inputs) -> list[str]:
    """Return ``label &= ...`` on as many lines as its terms need."""
    rows, line, taken = [], f"{label} &=", 0
    for sign, term in _terms(expression):
        size = width(pretty(term))
        if taken and taken + size > SLIDE:
            rows.append(line)
            line, taken = r"  &\quad", 0
        leads = not rows and not taken
        text = latex(term, inputs)
        if isinstance(term, sympy.Add):  # a sum that is the negative of a term
            text = rf"\left({text}\right)"
        line += f" {text}" if leads and sign == "+" else f" {sign} {text}"
        taken += size + 3
    return [*rows, line]


@dataclass(frozen=True)
class _Quantity:
    """A symbol ``letter^above_below``; axes add names above, other indices below."""

    letter: str
    axes: tuple[str, ...] = ()
    above: str = ""
    below: str = ""


_COMPONENTS: Names = {
    "xyz": ("x", "y", "z"),
    "twist": ("v_x", "v_y", "v_z", r"\omega_x", r"\omega_y", r"\omega_z"),
    "wrench": ("f_x", "f_y", "f_z", "n_x", "n_y", "n_z"),
    "momentum": ("p_x", "p_y", "p_z", "L_x", "L_y", "L_z"),
}
_DOTTED = {
    "q": "q", "qd": r"\dot{q}", "qdd": r"\ddot{q}", "tau": r"\tau", "x": "x", "t": "t",
    "parameters": "p", "motion_multipliers": r"(\lambda,\sigma,\kappa)",
}  # fmt: skip
_NAMED = ("link", "point", "output")
_QUANTITIES = {
    "tau": _Quantity(r"\tau", ("number",)),
    "bias_forces": _Quantity(r"\tau", ("number",), "bias"),
    "gravity_forces": _Quantity(r"\tau", ("number",), "gravity"),
    **{
        f"{part}_torques": _Quantity(r"\tau", ("number",), above)
        for part, above in (
            ("inertial", "inertial"), ("centrifugal", "centrifugal"), ("coriolis", "Coriolis"),
            ("gravity", "gravity"), ("load", "loads"), ("joint_term", "joints"),
        )
    },
    "qdd": _Quantity(r"\ddot{q}", ("number",)),
    "y": _Quantity("y", ("number",)),
    "outputs": _Quantity("o", ("output",)),
    "tau_along": _Quantity(r"\delta\tau", ("number",)),
    "qdd_along": _Quantity(r"\delta\ddot{q}", ("number",)),
    **{
        f"gradient_{x}{along}": _Quantity(f"{change}g", ("number", *axes), _DOTTED.get(x, x))
        for along, change in (("", ""), ("_along", r"\delta "))
        for x, *axes in (("q",), ("qd",), ("qdd",), ("tau",), ("loads", "wrench"), ("parameters",))
    },
    "constraints": _Quantity(r"\Phi", ("number",)),
    "constraint_jacobian": _Quantity(r"\Phi", ("number", "number"), "q"),
    "constraint_rates": _Quantity(r"\dot{\Phi}", ("number",)),
    "constraint_bias": _Quantity(r"\ddot{\Phi}", ("number",), "bias"),
    "constraint_accelerations": _Quantity(r"\ddot{\Phi}", ("number",)),
    "constraint_torques": _Quantity(r"\tau", ("number",), "loops"),
    "loop_wrenches": _Quantity("w", ("number", "wrench"), "loops"),
    "mass_matrix": _Quantity("M", ("number", "number")),
    "coriolis_matrix": _Quantity("C", ("number", "number")),
    **{
        f"hessian_{x}_{y}": _Quantity("H", ("number", "number"), _DOTTED[x] + _DOTTED[y])
        for x, y in (("q", "q"), ("q", "qd"), ("q", "qdd"), ("qd", "qd"))
    },
    "regressor": _Quantity("Y", ("number", "number")),
    "kinetic_energy": _Quantity("E", below="kin"),
    "potential_energy": _Quantity("E", below="pot"),
    "forward_kinematics": _Quantity("T", ("link", "number", "number")),
    "jacobians": _Quantity("J", ("link", "twist", "number")),
    "joint_wrenches": _Quantity("w", ("number", "wrench")),
    "position": _Quantity("r", ("point", "xyz")),
    "velocity": _Quantity("v", ("point", "xyz")),
    "acceleration": _Quantity("a", ("point", "xyz")),
    "center_of_mass": _Quantity("r", ("xyz",), "com"),
    "centroidal_momentum": _Quantity("h", ("momentum",), "com"),
    "centroidal_momentum_matrix": _Quantity("A", ("momentum", "number"), "com"),
    "centroidal_momentum_rate": _Quantity(r"\dot{h}", ("momentum",), "com"),
    "link_velocities": _Quantity(r"\nu", ("link", "twist")),
    "link_accelerations": _Quantity(r"\dot{\nu}", ("link", "twist")),
}  # fmt: skip
_NUMERATORS = {
    "tau": "tau", "qdd": "qdd", "y": "y", "o": "outputs", "T": "kinetic_energy",
    "V": "potential_energy", "w": "joint_wrenches", "x": "position", "v": "velocity",
    "a": "acceleration", "c": "constraints", "cd": "constraint_rates",
    "cdd": "constraint_accelerations", "p": "constraint_torques",
}  # fmt: skip
_DERIVATIVE = re.compile(r"d(\w+)_d(qdd|qd|q|tau|x|t|loads|parameters|motion_multipliers)")
_MULTIPLIERS = (r"\lambda", r"\sigma", r"\kappa")
"""Symbols of multipliers of constraints, and of projections of velocities and accelerations."""


def names_in(tree: KinematicTree[Any]) -> Names:
    """Return names of the links, points, loads and rows of a robot."""
    return {
        "link": [frame.name for frame in tree.frames],
        "point": [point.name for point in tree.points],
        "load": [load.name for load in tree.loads],
        "output": [output.name for output in tree.outputs],
        "constraint": tree.constraint_names,
        "parameter": tree.runtime_parameters,
    }


def result_symbol(name: str, names: Names, index: tuple[int, ...] = ()) -> str:
    r"""Write the LaTeX symbol of (a part of) a result: ``w_{1,n_z}``; `index` counts from 0.

    A partial index stands for all entries below it.
    """
    if name == "center_of_mass_jacobian":
        return _fraction(_QUANTITIES["center_of_mass"], "q", names, index)
    if name == "dqdd":  # along the sensitivities of the state
        total = _fraction(_QUANTITIES["qdd"], "parameters", names, index)
        return total.replace(r"\partial", r"\mathrm{d}")
    derivative = _DERIVATIVE.fullmatch(name)
    if derivative and derivative[1] in _NUMERATORS:
        return _fraction(_QUANTITIES[_NUMERATORS[derivative[1]]], derivative[2], names, index)
    return _symbol(_QUANTITIES.get(name, _Quantity(upright(name))), names, index)


def code_name(name: str, names: Names, index: tuple[int, ...] = ()) -> str:
    """Return the variable of (a part of) a result: ``M_12``, ``tau_1``, ``position_hand_x``.

    `index` counts from 0, the variable from 1.
    """
    quantity = _QUANTITIES.get(name, _Quantity(name))
    plain = not (quantity.above or quantity.below) and set(quantity.axes) == {"number"}
    head = quantity.letter if plain and quantity.letter.isalpha() else name
    kinds = (*quantity.axes, *["number"] * len(index))
    parts = [
        names[kind][i] if kind in _NAMED else _COMPONENTS[kind][i].replace("\\", "")
        if kind in _COMPONENTS else str(i + 1)
        for kind, i in zip(kinds, index, strict=False)
    ]  # fmt: skip
    digits = all(len(part) == 1 for part in parts)
    return "_".join([head, ("" if digits else "_").join(parts)]).rstrip("_")


def upright(name: str) -> str:
    """Return a name in upright letters."""
    escaped = name.replace("_", r"\_")
    return rf"\mathrm{{{escaped}}}"


def _symbol(quantity: _Quantity, names: Names, index: tuple[int, ...]) -> str:
    above = [upright(quantity.above)] if quantity.above else []
    below = [upright(quantity.below)] if quantity.below else []
    kinds = quantity.axes or ("number",) * len(index)
    for kind, i in zip(kinds, index, strict=False):
        if kind in _NAMED:
            above.append(upright(names[kind][i]))
        else:
            below.append(_COMPONENTS[kind][i] if kind in _COMPONENTS else str(i + 1))
    subscript = f"_{{{','.join(below)}}}" if below else ""
    superscript = f"^{{{','.join(above)}}}" if above else ""
    return quantity.letter + subscript + superscript


def _fraction(quantity: _Quantity, by: str, names: Names, index: tuple[int, ...]) -> str:
    order = len(quantity.axes)
    numerator = _symbol(quantity, names, index[:order])
    denominator = _DOTTED.get(by, r"\mathrm{loads}")
    if by == "loads" and index[order:]:
        denominator = _load(names["load"][index[order]], *index[order + 1 :])
    elif by == "parameters" and index[order:]:
        denominator = upright(names["parameter"][index[order]])
    elif by == "motion_multipliers" and index[order:]:
        row = "".join(f"_{{{i + 1}}}" for i in index[order + 1 :])
        denominator = _MULTIPLIERS[index[order]] + row
    elif index[order:]:
        denominator += f"_{{{index[order] + 1}}}"
    return rf"\frac{{\partial {numerator}}}{{\partial {denominator}}}"


def _load(name: str, component: int | None = None) -> str:
    """Return the symbol of a load, as `latex_names` typesets it."""
    if component is None:
        return rf"\mathrm{{loads}}^{{{upright(name)}}}"
    letter, axis = _COMPONENTS["wrench"][component].split("_")
    return f"{letter}_{{{axis}}}^{{{upright(name)}}}"
