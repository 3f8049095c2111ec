"""Data inside a page: as text of a ``script`` element, or compressed."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

_DANGEROUS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def as_script(data: Any) -> str:
    """Write JSON that cannot end its ``script`` element, whatever strings it holds."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    for letter, escaped in _DANGEROUS.items():
        text = text.replace(letter, escaped)
    return text


def packed(content: bytes) -> str:
    """Return content deflated (zlib) and in base64, for `DecompressionStream`."""
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")
