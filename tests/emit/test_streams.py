"""Results written past the caches are those that are stored, to the bit, and nothing beside them.

A kernel that copies its argument, of every length, in rows that begin anywhere in a line.
"""

from pathlib import Path

import pytest

from symgen.toolchain.compiler import AVX2, find_compiler
from tests.choosing import some_slow
from tests.emit.test_versions import runs
from tests.support.commands import printed_by

TEMPLATES = Path(__file__).parents[2] / "templates" / "c"
AVX512 = (*AVX2, "-mavx512f", "-mavx512dq", "-mavx512vl")

PROGRAM = r"""
#define MOST_ARRAYS 2
#include <stdio.h>
#include <string.h>
#include "symgen-rows.h"

enum { LONGEST = 340, ROWS = 3 * LANES + 3, ALL = LONGEST * ROWS + 2 * LINE };

static int length, reversed[LONGEST];
static int copied(const real **x, real **y)
{
    for (int i = 0; i < length; ++i) y[0][i] = y[1][i] = x[0][i];
    return 0;
}

int main(void)
{
    static double x[ALL], stored[2][ALL], streamed[2][ALL];
    static char room[(3 * LONGEST + 2) * sizeof(real)];
    long compared = 0;
    for (int i = 0; i < ALL; ++i) x[i] = i + 0.25;
    for (length = 1; length < LONGEST; ++length) {
        for (int i = 0; i < length; ++i) reversed[i] = length - 1 - i;
        for (int from = 0; from < LINE; ++from)
            for (int rows = 0; rows <= ROWS; rows += rows < LANES + 1 ? 1 : LANES - 1) {
                const struct kernel f = {copied, 1, 2, {length}, {length, length},
                                         {length, length}, {0, reversed}};
                const double *const in[] = {x};
                const ptrdiff_t dx[] = {length};
                for (int i = 0; i < ALL; ++i)
                    stored[0][i] = stored[1][i] = streamed[0][i] = streamed[1][i] = -1.0;
                double *const a[] = {stored[0] + from, stored[1] + (from + 3) % LINE};
                double *const b[] = {streamed[0] + from, streamed[1] + (from + 3) % LINE};
                const ptrdiff_t some = rows / 2 / LANES * LANES;  /* as threads share it */
                compute_samples(&f, 0, rows, in, dx, a, room, 0);
                compute_samples(&f, some, rows, in, dx, b, room, 1);
                compute_samples(&f, 0, some, in, dx, b, room, 1);
                if (memcmp(stored, streamed, sizeof stored)) {
                    printf("length %d, from %d, %d rows\n", length, from, rows);
                    return 1;
                }
                for (int i = 0; i < length * rows; ++i)
                    if (a[0][i] != x[i]) return 2;
                ++compared;
            }
    }
    printf("%ld compared, streams: %d\n", compared, CAN_STREAM);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("width", "options"),
    some_slow([(2, ()), (4, AVX2), (8, AVX512), (8, AVX2), (8, ())], [(2, ())]),
    ids=["SSE2", "AVX2", "AVX-512", "8 by AVX2", "8 by SSE2"],
)
def test_streams_are_what_is_stored(width, options, tmp_path):
    if options and not runs(8 if options == AVX512 else 4):
        pytest.skip("this processor has no such instructions")
    (tmp_path / "program.c").write_text(PROGRAM)
    program = str(tmp_path / "program")
    flags = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-Wno-unused-function")
    command = [*find_compiler().command, *flags, *options, f"-DSYMGEN_WIDTH={width}"]
    command += ["-DSYMGEN_VARIANT=tried", f"-I{TEMPLATES}", str(tmp_path / "program.c")]
    printed_by(*command, "-o", program, "-lm")
    assert "compared" in printed_by(program)
