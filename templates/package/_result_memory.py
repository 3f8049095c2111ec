"""Memory of deleted results that is kept for new ones: `result_memory` of the package.

A page of memory that the system hands out costs more than what a kernel writes into it.  So compiled
backends keep the memory of large results, when nobody sees them any more, up to this number of
bytes, in one place for all modules of a process.  ``SYMGEN_RESULT_MEMORY``, read when the first of
them is imported, says another number; 0 keeps nothing.

By default it is a sixteenth of the memory of the machine, or of what its control group may use, and
at most 1 GiB; but nothing where the address space or the data of the process are limited
(``ulimit -v``, ``ulimit -d``), which is looked at again whenever memory is needed.  A number that is
set holds under limits, too.
This file is the same for every robot.
"""

import operator
import os
import pathlib

MOST = 2**30
PART = 16
"""Of the memory there is, so little that nobody misses it."""

UNLIMITED = 2**60
"""What the first version of control groups calls no limit is larger."""


class ResultMemory:
    """The bytes that are kept at most; `binaries` are the compiled backends of this package."""

    def __init__(self, binaries, number):
        self._binaries = binaries
        if any(binary.result_memory_is_set() for binary in binaries):
            return
        if number is None:
            self.forget()
        else:
            self.number = number

    @property
    def number(self):
        """At this moment; 0 without compiled backends, where NumPy cares for its arrays alone."""
        return max((binary.result_memory() for binary in self._binaries), default=0)

    @number.setter
    def number(self, number):
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            kind = type(number).__name__
            raise TypeError(f"result_memory: expected a whole number of bytes, got {kind}")
        number = operator.index(number)
        if number < 0:
            raise ValueError(f"result_memory: expected bytes, 0 or more, got {number}")
        self._set(min(number, UNLIMITED), True)

    @property
    def kept(self):
        """Bytes that are kept now."""
        return max((binary.result_memory_kept() for binary in self._binaries), default=0)

    def forget(self):
        """Take the default again."""
        self._set(default(), False)

    def _set(self, number, under_limits):
        for binary in self._binaries:
            binary.set_result_memory(number, under_limits)


def default():
    """Bytes that are kept where nobody says how many."""
    try:
        there_are = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        there_are = MOST
    return min(MOST, min([there_are, *limits_of_groups()]) // PART)


def limits_of_groups(processes="/proc/self/cgroup", root="/sys/fs/cgroup"):
    """Bytes that the control groups of this process, each within another, may use (Linux).

    Within a container the path of its group may not be there, but the group itself at the root.
    """
    limits = []
    for line in _lines(processes):
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            top, name = pathlib.Path(root), "memory.max"
        elif "memory" in controllers.split(","):
            top, name = pathlib.Path(root, "memory"), "memory.limit_in_bytes"
        else:
            continue
        group = pathlib.Path(path.lstrip("/"))
        for folder in (group, *group.parents):
            limits += [int(text) for text in _lines(top / folder / name) if text.isdecimal()]
    return [limit for limit in limits if limit < UNLIMITED]


def _lines(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
    except OSError:
        return []
