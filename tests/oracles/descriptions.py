"""Descriptions from the text of a model file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from symgen.description import RobotDescription, read


def described(text: str) -> RobotDescription:
    """Write the text to a file of its own and read it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.yaml"
        path.write_text(text, encoding="utf-8")
        return read(path)
