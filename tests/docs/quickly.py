"""``python -m tests.docs.quickly MODULE ...``: a module as a program, with quick builds.

Whether builds are right is tried elsewhere, and how long a call takes is nobody's concern here."""

import os
import runpy
import sys
from unittest.mock import patch

from symgen.comparing import comparison
from symgen.pipeline import building
from symgen.runtime.subjects import Check
from symgen.validation.validate import INDEPENDENT, ValidationResult
from tests.modules import quick_builds

if __name__ == "__main__":
    del sys.argv[0]
    cache = os.environ["SYMGEN_CACHE_DIR"]
    os.environ["SYMGEN_CACHE_DIR"] = cache.removesuffix("/quick")  # of the page that runs this
    said = ValidationResult((Check(f"= that of {INDEPENDENT}", "nothing", 0.01, 1.0, 1),), 0.0)
    with (
        quick_builds(),
        patch.object(building, "validate_package", lambda *a, **k: said),
        patch.object(comparison, "SECONDS_PER_REPETITION", 1e-5),
    ):
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
