"""Call everything that a compiled package has, with arrays that end at fences.

``python -m tests.safety.exercise FOLDER pages|blocks``: what comes back must be what ordinary
arrays give.  A step out of bounds ends the process.  The last line says how much was called."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from symgen.toolchain.loading import load_package
from tests.safety.fences import FENCES, Fence

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 1000)
FEW = (0, 1, 2, 7, 9, 33)
WIDTHS = (1, 2, 4, 8)
MANY, MANY_ENTRIES = 100_003, 4_000_000
"""Samples that are worth several threads, and entries of results at most."""


@dataclass(frozen=True)
class Layouts:
    """Copies of arrays, laid out in all ways that users may choose, between fences."""

    fence: Fence

    def ending(self, x):
        """An ordinary array that ends at a fence."""
        return self._filled(self.fence.room(x.size, at_end=True).reshape(x.shape), x)

    def beginning(self, x):
        """An ordinary array that begins at a fence."""
        return self._filled(self.fence.room(x.size, at_end=False).reshape(x.shape), x)

    def unaligned(self, x):
        """An array that starts at an odd address, and ends at a fence but for one byte."""
        room = self.fence.room(x.size, at_end=False, shift=1)
        return self._filled(room.reshape(x.shape), x)

    def with_gaps(self, x):
        """An array with gaps between its entries; the last entry ends at a fence."""
        if not x.size:
            return x.copy()
        room = self.fence.room(2 * x.size - 1, at_end=True)
        room[...] = np.nan
        strides = [2 * step for step in np.empty(x.shape).strides]
        return self._filled(np.lib.stride_tricks.as_strided(room, x.shape, strides), x)

    def backwards(self, x):
        """An array whose first entry is the last one in memory, at a fence."""
        turned = (*(slice(None, None, -1),) * x.ndim, ...)
        return self._filled(self.ending(x)[turned], x)

    def columns_first(self, x):
        return self._filled(self.fence.room(x.size, at_end=True).reshape(x.shape[::-1]).T, x)

    @staticmethod
    def _filled(room, x):
        room[...] = x
        return room

    def ordinary(self):
        return self.ending, self.beginning

    def others(self):
        return self.unaligned, self.with_gaps, self.backwards, self.columns_first


@dataclass(frozen=True)
class Function:
    """A public function, dense or packed, with its signature."""

    label: str
    call: Callable[..., Any]
    signature: Any
    packed: bool

    def arguments(self, rng, size):
        """Random values of all inputs, one for every sample; without batch axes for None."""
        batch = () if size is None else (size,)
        return [
            rng.uniform(0.95, 1.05, (*batch, *array.shape)) * array.default
            if array.name == "parameters"
            else rng.uniform(-1.5, 1.5, (*batch, *array.shape))
            for array in self.signature.inputs
        ]

    def outputs(self, size):
        batch = () if size is None else (size,)
        return [np.full((*batch, *array.shape), np.nan) for array in self.signature.outputs]

    def __call__(self, given, out=None):
        inputs = self.signature.inputs
        positional = [x for x, array in zip(given, inputs, strict=True) if array.default is None]
        named = {
            array.name: x
            for x, array in zip(given, inputs, strict=True)
            if array.default is not None
        }
        if self.packed:
            named["packed"] = True
        if out is not None:
            named["out"] = tuple(out) if len(out) > 1 else out[0]
        result = self.call(*positional, **named)
        return list(result) if isinstance(result, tuple) else [result]


def functions_of(module, backend):
    signatures = sys.modules[f"{module.__name__}._signatures"]
    for formulation in module.formulations:
        namespace = getattr(backend, formulation)
        for packed, table in ((False, signatures.SIGNATURES), (True, signatures.PACKED)):
            for name, signature in table.items():
                if not hasattr(namespace, name):
                    continue
                label, call = f"{formulation}.{name}", getattr(namespace, name)
                if signature.inputs[0].name == "name":  # of one link: the last one here
                    call = partial(call, module.link_names[-1])
                    signature = type(signature)(name, signature.inputs[1:], signature.outputs)
                yield Function(f"{label}{', packed' if packed else ''}", call, signature, packed)


class Exercise:
    """The calls, and how many there were."""

    def __init__(self, module, fence):
        self.module = module
        self.layouts = Layouts(fence)
        self.rng = np.random.default_rng(5)
        self.calls = 0
        self.kinds: set[str] = set()

    def run(self, sizes, few):
        for name, backend in self.module.backends.items():
            if name == "numpy":
                continue
            for width in WIDTHS if name == "compiled" else (0,):
                if width and backend.choose(width) != width:
                    continue
                self.kinds.add(f"{name} {width}".removesuffix(" 0"))
                for function in functions_of(self.module, backend):
                    self.function(function, sizes, few)
                    self.refusals(function)
        if "compiled" in self.module.backends:
            self.in_threads()

    def function(self, function, sizes, few):
        for size in (None, *sizes):
            given = function.arguments(self.rng, size)
            wanted = function(given)
            for layout in self.layouts.ordinary():
                self.compare(function, size, wanted, [layout(x) for x in given], layout)
            if size in few:
                self.mixed(function, size, given)
            if size is None or size in few:
                for layout in self.layouts.others():
                    self.compare(function, size, wanted, [layout(x) for x in given], layout)

    def compare(self, function, size, wanted, given, layout):
        """The same values in another layout, with results allocated and given."""
        outputs = [layout(x) for x in function.outputs(size)]
        for results in (function(given), function(given, outputs), outputs):
            for result, value in zip(results, wanted, strict=True):
                assert result.shape == value.shape, (function.label, size)
                # one sample may be computed by another version than a batch of one
                close = size not in (None, 1) or layout in self.layouts.ordinary()
                check = np.testing.assert_array_equal if close else assert_near
                check(result, value, f"{function.label} {size} {layout.__name__}")
        self.calls += 2

    def mixed(self, function, size, given):
        """Some arguments the same for all samples, some of the results allocated."""
        for each in range(len(given)):
            one = [
                self.layouts.ending(x if k == each or not x.shape[0] else x[0])
                for k, x in enumerate(given)
            ]
            out = [self.layouts.ending(x) for x in function.outputs(size)]
            if len(out) > 1:
                out[each % len(out)] = None
            function(one, out)
            self.calls += 1

    def refusals(self, function):
        given, out = function.arguments(self.rng, 33), function.outputs(33)

        def lacking(arrays, which):
            some = (x[:2] if k == which else x for k, x in enumerate(arrays))
            return [self.layouts.ending(x) for x in some]

        order = (*range(1, len(given)), 0)  # the first one says how many samples there are
        cases = [(lacking(given, which), None) for which in order]
        cases += [(lacking(given, None), lacking(out, which)) for which in range(len(out))]
        for inputs, outputs in cases:
            try:
                function(inputs, outputs)
            except ValueError:
                self.calls += 1
            else:
                raise AssertionError(f"{function.label} took arrays of 33 and of 2 samples")

    def in_threads(self):
        """Batches that are shared between threads, of everything that serves the top level."""
        module, before = self.module, self.module.threads
        backend = module.backends["compiled"]
        backend.choose(0)
        for function in functions_of(module, backend):
            entries = sum(int(np.prod(x.shape)) for x in function.signature.outputs)
            size = min(MANY, MANY_ENTRIES // max(entries, 1))
            given = [self.layouts.ending(x) for x in function.arguments(self.rng, size)]
            module.threads = 1
            wanted = function(given)
            module.threads = 3
            out = [self.layouts.ending(x) for x in function.outputs(size)]
            function(given, out)
            module.threads = before
            for result, value in zip(out, wanted, strict=True):
                np.testing.assert_array_equal(result, value, function.label)
            self.calls += 2


def assert_near(result, wanted, what):
    """Results of two versions of one kernel."""
    scale = np.abs(wanted).max(initial=1.0)
    assert np.abs(result - wanted).max(initial=0.0) <= 1e-12 * scale, what


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("fence", choices=FENCES)
    given = parser.parse_args()
    exercise = Exercise(load_package(given.folder), FENCES[given.fence]())
    exercise.run(SIZES, FEW)
    print(json.dumps({"calls": exercise.calls, "kinds": sorted(exercise.kinds)}))


if __name__ == "__main__":
    main()
