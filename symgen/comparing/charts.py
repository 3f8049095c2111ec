"""SVG of the growth of operations: one panel per function, both axes logarithmic.

The picture is self-contained: colours follow the reader's light or dark setting, curves differ by
marks as well as by colour, and every point has a tooltip with its numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

from symgen.comparing.growth import Growth, Size
from symgen.errors import RequestError
from symgen.toolchain.files import check_writable

PANEL_WIDTH, PANEL_HEIGHT = 430, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 34, 40
COLUMNS = 2
LEGEND_LINE = 16
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a6a00", "#6f5bd0", "#b03a48")
"""Readable on white and on black, and for the colour-blind."""

DRAWING = """
.grid { stroke: currentColor; opacity: .15; } .frame { stroke: currentColor; fill: none; }
text { fill: currentColor; } .title { font-size: 14px; font-weight: 600; }
.curve { fill: none; stroke-width: 1.8; }
"""
STYLE = f"""
svg {{ color: #222; background: #fff; font: 12px system-ui, sans-serif; }}{DRAWING}
@media (prefers-color-scheme: dark) {{ svg {{ color: #ddd; background: #16181d; }} }}
"""


_Scale = Callable[[float], float]
"""Value on an axis -> pixel."""


def _scale(low: float, high: float, start: float, end: float) -> _Scale:
    """Return a logarithmic axis: values from `low` to `high` on pixels from `start` to `end`."""
    span = math.log(high / low) or 1.0
    return lambda value: start + (end - start) * math.log(value / low) / span


def check_picture(path: Path) -> None:
    """Raise `RequestError` where a picture cannot be written to `path`."""
    if path.suffix.lower() != ".svg":
        raise RequestError(f"{str(path)!r} is no name for a picture; expected one such as grow.svg")
    check_writable(path)


def growth_svg(growth: Growth, standalone: bool = True) -> str:
    """Draw operations over the number of joints, a curve per formulation, a panel per function.

    A picture within a page (not `standalone`) has the colours of the page.
    """
    functions = list(dict.fromkeys(x.function for x in growth.sizes))
    names = list(dict.fromkeys(x.formulation for x in growth.sizes))
    columns = min(COLUMNS, len(functions))
    rows = math.ceil(len(functions) / columns)
    width, height = columns * PANEL_WIDTH, rows * PANEL_HEIGHT
    size = {"viewBox": f"0 0 {width} {height}", "width": str(width), "role": "img"}
    name_space = {"xmlns": "http://www.w3.org/2000/svg"} if standalone else {"class": "growth"}
    svg = ElementTree.Element("svg", {**name_space, **size})
    title = f"Operations of {growth.family} chains over the number of joints"
    ElementTree.SubElement(svg, "title").text = title
    ElementTree.SubElement(svg, "style").text = STYLE if standalone else DRAWING
    for place, function in enumerate(functions):
        corner = (place % columns * PANEL_WIDTH, place // columns * PANEL_HEIGHT)
        _panel(svg, growth, function, names, corner)
    ElementTree.indent(svg)
    return ElementTree.tostring(svg, encoding="unicode") + "\n"


def _panel(
    svg: ElementTree.Element, growth: Growth, function: str, names: Sequence[str],
    corner: tuple[int, int],
) -> None:  # fmt: skip
    x0, y0 = corner
    points = [x for x in growth.sizes if x.function == function and x.operations]
    if not points:
        return
    left, right = x0 + LEFT, x0 + PANEL_WIDTH - RIGHT
    top, bottom = y0 + TOP, y0 + PANEL_HEIGHT - BOTTOM
    decades = [math.log10(x.operations) for x in points]
    low = math.floor(min(decades))
    high = max(math.ceil(max(decades)), low + 1)
    across = _scale(min(growth.joints), max(growth.joints), left, right - 8)
    up = _scale(10**low, 10**high, bottom, top)
    _text(svg, left, top - 12, function.replace("_", " "), {"class": "title"})
    for tick in (10**exponent for exponent in range(low, high + 1)):
        _line(svg, left, up(tick), right, up(tick))
        _text(svg, left - 6, up(tick) + 4, _short(tick), {"text-anchor": "end"})
    usual = [n for n in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96) if n in growth.joints]
    for n in sorted({growth.joints[0], *usual, growth.joints[-1]}):
        _line(svg, across(n), top, across(n), bottom)
        _text(svg, across(n), bottom + 16, str(n), {"text-anchor": "middle"})
    _text(svg, (left + right) / 2, bottom + 32, "joints", {"text-anchor": "middle"})
    frame = {"x": f"{left}", "y": f"{top}", "width": f"{right - left}", "height": f"{bottom - top}"}
    ElementTree.SubElement(svg, "rect", {"class": "frame", **frame})
    for place, name in enumerate(names):
        _curve(svg, place, [x for x in points if x.formulation == name], across, up)
    _legend(svg, growth, function, names, (right, bottom))


def _curve(
    svg: ElementTree.Element, place: int, curve: Sequence[Size], across: _Scale, up: _Scale
) -> None:
    if not curve:
        return
    line = " ".join(f"{across(x.n):.1f},{up(x.operations):.1f}" for x in curve)
    colour = COLOURS[place % len(COLOURS)]
    drawn = {"class": "curve", "points": line, "stroke": colour}
    ElementTree.SubElement(svg, "polyline", drawn)
    for x in curve:
        mark = _mark(svg, place, across(x.n), up(x.operations))
        joints = "1 joint" if x.n == 1 else f"{x.n} joints"
        words = f"{x.formulation}, {joints}: {x.operations:,} operations"
        ElementTree.SubElement(mark, "title").text = words


def _legend(
    svg: ElementTree.Element, growth: Growth, function: str, names: Sequence[str],
    corner: tuple[float, float],
) -> None:  # fmt: skip
    """Draw names and exponents of the curves of a panel in its free lower right corner."""
    shown = [name for name in names if growth.of(function, name)]
    fitted = growth.exponents.get(function, {})
    for row, name in enumerate(reversed(shown)):
        y = corner[1] - 10 - row * LEGEND_LINE
        power = f" ~ n^{fitted[name]:.1f}" if name in fitted else ""
        _mark(svg, names.index(name), corner[0] - 12, y - 4)
        _text(svg, corner[0] - 22, y, name + power, {"text-anchor": "end"})


def _mark(svg: ElementTree.Element, place: int, x: float, y: float) -> ElementTree.Element:
    """Draw the mark of a curve: one of three shapes, filled or not."""
    colour = COLOURS[place % len(COLOURS)]
    look = {"stroke": colour, "fill": colour if place % 2 == 0 else "none"}
    if place % 3 == 0:
        where = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "3.2"}
        return ElementTree.SubElement(svg, "circle", {**where, **look})
    if place % 3 == 1:
        where = {"x": f"{x - 3:.1f}", "y": f"{y - 3:.1f}", "width": "6", "height": "6"}
        return ElementTree.SubElement(svg, "rect", {**where, **look})
    corners = f"{x:.1f},{y - 4:.1f} {x + 4:.1f},{y + 3:.1f} {x - 4:.1f},{y + 3:.1f}"
    return ElementTree.SubElement(svg, "polygon", {"points": corners, **look})


def _text(
    svg: ElementTree.Element, x: float, y: float, words: str, more: dict[str, str] | None = None
) -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}"}
    ElementTree.SubElement(svg, "text", {**place, **(more or {})}).text = words


def _line(svg: ElementTree.Element, x1: float, y1: float, x2: float, y2: float) -> None:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    ElementTree.SubElement(svg, "line", {"class": "grid", **ends})


def _short(number: int) -> str:
    """Return 1, 10, 100, 1k, ... 1M."""
    if number >= 1_000_000:
        return f"{number // 1_000_000}M"
    return f"{number // 1000}k" if number >= 1000 else str(number)
