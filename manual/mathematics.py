"""Formulas as MathML, which browsers show without a script, a font or a stylesheet of their own."""

from __future__ import annotations

from typing import Any

from docutils.nodes import SkipNode, math, math_block
from latex2mathml.converter import convert


def inline(writer: Any, node: math) -> None:
    """Sphinx: write a formula within a line."""
    writer.body.append(convert(node.astext(), display="inline"))
    raise SkipNode


def block(writer: Any, node: math_block) -> None:
    """Sphinx: write a formula that stands by itself; where it is too wide it scrolls."""
    mathml = convert(node.astext(), display="block")
    writer.body.append(f'<div class="formula" tabindex="0" role="math">{mathml}</div>')
    raise SkipNode
