"""The machine and the versions that figures belong to; no names of users or folders."""

import datetime
import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def machine():
    """What a reader must know of the machine."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load when it began": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    }


def _processor():
    """Its name, and the widest vectors it has."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    entries = {key.strip(): value.strip() for key, value in pairs}
    flags = entries.get("flags", "").split()
    vectors = next((f"{a}, " for a in ("avx512f", "avx2", "avx") if a in flags), "")
    family = f"family {entries.get('cpu family', '?')} model {entries.get('model', '?')}"
    return f"{entries.get('model name', platform.processor())} ({vectors}{family})"


def _commit():
    """The commit that was measured, with "+" where files were changed since."""
    try:
        answers = [
            subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
            for words in (("rev-parse", "--short", "HEAD"), ("status", "--porcelain", "-uno"))
        ]
    except (OSError, subprocess.CalledProcessError):
        return None
    return answers[0].stdout.strip() + ("+" if answers[1].stdout.strip() else "")
