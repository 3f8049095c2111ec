"""Formulas as MathML, which browsers show without a script, a font or a stylesheet of their own."""

from __future__ import annotations

from typing import Any

from docutils.nodes import SkipNode, math, math_block
from latex2mathml.converter import convert


def mathml(latex: str, display: str) -> str:
    """The formula `latex` as MathML; ValueError where a part of it is not understood."""
    text: str = convert(latex, display=display)
    if "\\" in text or ">&<" in text:
        raise ValueError(f"no MathML for {latex}")
    return text


def inline(writer: Any, node: math) -> None:
    """Sphinx: write a formula within a line."""
    writer.body.append(mathml(node.astext(), "inline"))
    raise SkipNode


def block(writer: Any, node: math_block) -> None:
    """Sphinx: write a formula that stands by itself; where it is too wide it scrolls."""
    formula = mathml(node.astext(), "block")
    writer.body.append(f'<div class="formula" tabindex="0">{formula}</div>')
    raise SkipNode
