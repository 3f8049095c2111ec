"""Cases measured side by side: many short slices, one contestant after the other, round by round.

The clock of a virtual machine drifts by tens of percent within a minute.  What stands in one round
was measured within milliseconds, so drift hits all alike; ratios are formed within the rounds
(their median) and from the minima of all rounds.  Seconds are processor time of this thread, so
that a slice is not longer because somebody else had the core for a while.
"""

import contextlib
import gc
import os
import time
import timeit
from dataclasses import dataclass

import numpy as np

SLOW_SECONDS = 0.05
"""A case whose single call takes longer than that is measured in the first `FEW` rounds only."""

FEW = 3


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds, and seconds per case and round."""

    rounds: int = 41
    seconds: float = 2e-3


QUICK = Effort(rounds=5, seconds=1e-3)


@dataclass(frozen=True)
class Timing:
    """Nanoseconds per sample in every round; NaN where the case was left out."""

    case: object
    rounds: np.ndarray

    @property
    def minimum(self):
        return float(np.nanmin(self.rounds))

    @property
    def median(self):
        return float(np.nanmedian(self.rounds))


def ratio_of_minima(reference, timing):
    """How many times faster `timing` is than `reference`, from the minima of all rounds."""
    return reference.minimum / timing.minimum


def ratio_within_rounds(reference, timing):
    """The same as the median of the ratios of each round."""
    return float(np.nanmedian(reference.rounds / timing.rounds))


def interleaved(cases, effort):
    """`Timing`s of the cases, which are called in turn in every round, in changing order."""
    rounds = np.full((len(cases), effort.rounds), np.nan)
    with one_core(), _no_collection():
        calls = [_calibrated(case, effort.seconds) for case in cases]
        for number in range(effort.rounds):
            for position in np.roll(np.arange(len(cases)), number):
                case, (count, slow) = cases[position], calls[position]
                if slow and number >= FEW:
                    continue
                if not slow:
                    case.time(count // 8 + 1)  # warm caches and predictors
                rounds[position, number] = case.time(count) * 1e9 / (count * case.samples)
    return [Timing(case, values) for case, values in zip(cases, rounds, strict=True)]


def _calibrated(case, seconds):
    """(calls per slice, whether a single call is already long)."""
    case.time(1)  # its code and pages are cold
    count, taken = 1, case.time(1)
    while taken < seconds / 2 and count < 10_000_000:
        count *= 2 if taken > seconds / 16 else 8
        taken = case.time(count)
    return max(1, round(count * seconds / taken)), taken / count > SLOW_SECONDS


def python_loop(call, **names):
    """`time(calls)` for a Python statement over names, with the loop of `timeit`."""
    return timeit.Timer(call, timer=time.thread_time, globals=names).timeit


@contextlib.contextmanager
def _no_collection():
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def single_threaded():
    """Keep libraries from starting threads.  Call it before they are loaded."""
    for name in ("SYMGEN_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


@contextlib.contextmanager
def one_core():
    """Bind this process to one core for a while, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
