/* From rows of numbers, one row per sample, to the vectors that kernels take, and back.
 *
 * A kernel for several samples takes entry i of all of them as one vector.  Rows are read and
 * written in squares that are turned over in registers; where the last square would not fit into
 * the rows it overlaps the one before.
 *
 * This file is the same for every robot.
 */
#ifndef SYMGEN_ROWS_H
#define SYMGEN_ROWS_H

#include <stddef.h>
#include <stdlib.h>

#include "symgen-real.h"

/* One kernel: where it is, and the entries per sample of its arguments, of its results, and of the
 * rows of results, which may be packed: then they hold the entries at the positions `kept`.
 * MOST_ARRAYS is defined by who includes this. */
struct kernel {
    int (*compute)(const real **x, real **y);  /* returns samples_where the matrix is singular */
    int inputs, outputs;
    int input[MOST_ARRAYS], output[MOST_ARRAYS], row[MOST_ARRAYS];
    const int *kept[MOST_ARRAYS];
};

#if SYMGEN_WIDTH > 1

typedef double row_of_lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef double row_of_4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef double row_of_2 __attribute__((vector_size(16), aligned(8), may_alias));

#if defined(__clang__) || __GNUC__ >= 12
#define CAN_TURN 1
#else
#define CAN_TURN 0
#endif

/* Where entry i of a row stands among the vectors. */
#define AT(i) (kept ? kept[i] : (i))

#if CAN_TURN

/* LANES rows of a square are held in r0, r1, ...: not in an array, which gcc copies to the stack in
 * pieces smaller than a vector, and a load of what was just stored in pieces waits for all of them.
 * Rows i and k exchange what stands at a distance of 1, 2 or 4 columns. */
#if LANES == 8
#define EACH_ROW(X) FOUR_ROWS(X) X(4) X(5) X(6) X(7)
#define EXCHANGE_1(i, k) EXCHANGE(i, k, (0, 8, 2, 10, 4, 12, 6, 14), (1, 9, 3, 11, 5, 13, 7, 15))
#define EXCHANGE_2(i, k) EXCHANGE(i, k, (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15))
#define EXCHANGE_4(i, k) EXCHANGE(i, k, (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15))
#define TURN_SQUARE \
    EXCHANGE_1(0, 1) EXCHANGE_1(2, 3) EXCHANGE_1(4, 5) EXCHANGE_1(6, 7) \
    EXCHANGE_2(0, 2) EXCHANGE_2(1, 3) EXCHANGE_2(4, 6) EXCHANGE_2(5, 7) \
    EXCHANGE_4(0, 4) EXCHANGE_4(1, 5) EXCHANGE_4(2, 6) EXCHANGE_4(3, 7)
#elif LANES == 4
#define EACH_ROW(X) FOUR_ROWS(X)
#define EXCHANGE_1(i, k) EXCHANGE(i, k, (0, 4, 2, 6), (1, 5, 3, 7))
#define EXCHANGE_2(i, k) EXCHANGE(i, k, (0, 1, 4, 5), (2, 3, 6, 7))
#define TURN_SQUARE EXCHANGE_1(0, 1) EXCHANGE_1(2, 3) EXCHANGE_2(0, 2) EXCHANGE_2(1, 3)
#else
#define EACH_ROW(X) X(0) X(1)
#define EXCHANGE_1(i, k) EXCHANGE(i, k, (0, 2), (1, 3))
#define TURN_SQUARE EXCHANGE_1(0, 1)
#endif
#define FOUR_ROWS(X) X(0) X(1) X(2) X(3)
#define LISTED(...) __VA_ARGS__
#define EXCHANGE(i, k, even, odd) \
    { \
        const real upper = r##i, lower = r##k; \
        r##i = __builtin_shufflevector(upper, lower, LISTED even); \
        r##k = __builtin_shufflevector(upper, lower, LISTED odd); \
    }

#define ROW(k) (rows + (ptrdiff_t)(k) * size + at)
#define GET_ROW(k) real r##k = *(const row_of_lanes *)ROW(k);
#define PUT_ROW(k) *(row_of_lanes *)ROW(k) = r##k;
#define GET_ENTRY(k) real r##k = v[AT(at + k)];
#define PUT_ENTRY(k) v[at + k] = r##k;

#if LANES == 8
/* Two squares of 4 rows and columns, side by side in r0 to r3: rows k and k + 4. */
#define TURN_TWO_SQUARES EXCHANGE_1(0, 1) EXCHANGE_1(2, 3) EXCHANGE_2(0, 2) EXCHANGE_2(1, 3)
#define GET_TWO_ROWS(k) \
    real r##k = __builtin_shufflevector( \
        *(const row_of_4 *)ROW(k), *(const row_of_4 *)ROW(k + 4), 0, 1, 2, 3, 4, 5, 6, 7);
#define PUT_TWO_ROWS(k) \
    *(row_of_4 *)ROW(k) = __builtin_shufflevector(r##k, r##k, 0, 1, 2, 3); \
    *(row_of_4 *)ROW(k + 4) = __builtin_shufflevector(r##k, r##k, 4, 5, 6, 7);
#endif

#endif

/* Entries of rows that stand `size` apart; `valid` of the LANES rows are there. */
INLINE void load_some(int size, const double *rows, int valid, real *v)
{
    for (int i = 0; i < size; ++i)
        for (int k = 0; k < LANES; ++k)
            v[i][k] = rows[(ptrdiff_t)(k < valid ? k : valid - 1) * size + i];
}

INLINE void store_some(int size, const int *kept, const real *v, int valid, double *rows)
{
    for (int k = 0; k < valid; ++k)
        for (int i = 0; i < size; ++i) rows[(ptrdiff_t)k * size + i] = v[AT(i)][k];
}

static void load_full(int size, const double *rows, real *v)
{
#if CAN_TURN
    if (size >= LANES) {
        for (int i = 0; i < size; i += LANES) {
            const int at = i + LANES <= size ? i : size - LANES;
            EACH_ROW(GET_ROW)
            TURN_SQUARE
            EACH_ROW(PUT_ENTRY)
        }
        return;
    }
#if LANES == 8
    if (size >= 4) {
        for (int i = 0; i < size; i += 4) {
            const int at = i + 4 <= size ? i : size - 4;
            FOUR_ROWS(GET_TWO_ROWS)
            TURN_TWO_SQUARES
            FOUR_ROWS(PUT_ENTRY)
        }
        return;
    }
#endif
#endif
    if (size == 1)
        v[0] = *(const row_of_lanes *)rows;
    else
        load_some(size, rows, LANES, v);
}

INLINE void store_full(int size, const int *kept, const real *v, double *rows)
{
#if CAN_TURN
    if (size >= LANES) {
        for (int i = 0; i < size; i += LANES) {
            const int at = i + LANES <= size ? i : size - LANES;
            EACH_ROW(GET_ENTRY)
            TURN_SQUARE
            EACH_ROW(PUT_ROW)
        }
        return;
    }
#if LANES == 8
    if (size >= 4) {
        for (int i = 0; i < size; i += 4) {
            const int at = i + 4 <= size ? i : size - 4;
            FOUR_ROWS(GET_ENTRY)
            TURN_TWO_SQUARES
            FOUR_ROWS(PUT_TWO_ROWS)
        }
        return;
    }
#endif
#endif
    if (size == 1)
        *(row_of_lanes *)rows = v[AT(0)];
    else
        store_some(size, kept, v, LANES, rows);
}

static void store_all(int size, const real *v, double *rows) { store_full(size, 0, v, rows); }

static void store_kept(int size, const int *kept, const real *v, double *rows)
{
    store_full(size, kept, v, rows);
}

/* ---- results larger than the caches ----
 *
 * They are written past the caches, line by line: a cache would read what it is to overwrite, and
 * lose what is still wanted.  A few rows are turned over into scratch in the first cache, and whole
 * lines go from there. */

#define LINE 8  /* numbers in a line of the cache */
enum { COLUMNS = 64, MOST_IN_ROWS = 2 * COLUMNS, STRIDE = COLUMNS + 2 * LINE };

#if CAN_TURN && defined(__SSE2__) && !defined(SYMGEN_WITHOUT_STREAMS)
#define CAN_STREAM 1

/* Stores past the caches as compilers know them: gcc takes longer to read <immintrin.h> than for
 * all of this. */
#if defined(__AVX512F__)
#define STREAMED 8
#define STREAM(to, x) __builtin_ia32_movntpd512(to, x)
#elif defined(__AVX__)
#define STREAMED 4
#define STREAM(to, x) __builtin_ia32_movntpd256(to, x)
#else
#define STREAMED 2
#define STREAM(to, x) __builtin_ia32_movntpd(to, x)
#endif
typedef double streamed __attribute__((vector_size(8 * STREAMED), may_alias));
typedef double streamed_from __attribute__((vector_size(8 * STREAMED), aligned(8), may_alias));
#if defined(__clang__)
#undef STREAM
#define STREAM(to, x) __builtin_nontemporal_store(x, (streamed *)(to))
#endif

INLINE void stream_line(double *line, const double *v)
{
    for (int i = 0; i < LINE; i += STREAMED) STREAM(line + i, *(const streamed_from *)(v + i));
}

/* Numbers between the beginning of a line and `rows`. */
INLINE int numbers_before(const double *rows)
{
    return (int)((size_t)rows / sizeof(double) % LINE);
}

/* LANES short rows, one after the other.  `rest` is the beginning of the line in which they begin,
 * from the rows before, if there are any; then that of the line in which they end, which is not
 * written yet.  There is at least one line of them. */
INLINE void stream_rows(int size, const int *kept, const real *v, double *rows, int are_first,
                        double *rest)
{
    double scratch[LANES * MOST_IN_ROWS + LINE];
    const int before = numbers_before(rows), all = before + LANES * size, end = all / LINE * LINE;
    int at = before ? LINE : 0;
    store_full(size, kept, v, scratch + before);
    for (int k = 0; k < before; ++k) {
        if (!are_first) scratch[k] = rest[k];
    }
    if (before && are_first)
        for (int k = before; k < LINE; ++k) rows[k - before] = scratch[k];
    else if (before)
        stream_line(rows - before, scratch);
    for (; at < end; at += LINE) stream_line(rows + (at - before), scratch + at);
    for (int k = end; k < all; ++k) rest[k - end] = scratch[k];
}

/* The rest, where rows end. */
INLINE void store_rest(double *end, const double *rest)
{
    const int before = numbers_before(end);
    for (int k = 0; k < before; ++k) end[k - before] = rest[k];
}

/* LANES long rows, COLUMNS at a time and as many more as there are in a line: the lines of every row
 * begin elsewhere.  The ends of a row, which share a line with others, are stored as ever. */
INLINE void stream_columns(int length, const int *positions, const real *entries, double *results)
{
    double scratch[LANES * STRIDE], *const rows = scratch + LINE;
    const int size = STRIDE;
    for (int first = 0; first < length; first += COLUMNS) {
        const int *const kept = positions ? positions + first : 0;
        const real *const v = positions ? entries : entries + first;
        const int left = length - first, filled = left < COLUMNS + LINE ? left : COLUMNS + LINE;
        for (int i = 0; i < filled; i += LANES) {
            const int at = i + LANES <= filled ? i : filled - LANES;  /* perhaps before `first` */
            EACH_ROW(GET_ENTRY)
            TURN_SQUARE
            EACH_ROW(PUT_ROW)
        }
        for (int k = 0; k < LANES; ++k) {
            double *const to = results + (ptrdiff_t)k * length + first;
            const double *const from = rows + k * STRIDE;
            const int shared = (LINE - numbers_before(to)) % LINE;
            int column = shared;
            for (int i = 0; !first && i < shared; ++i) to[i] = from[i];
            for (; column < COLUMNS && column + LINE <= left; column += LINE)
                stream_line(to + column, from + column);
            if (column < COLUMNS)
                for (; column < left; ++column) to[column] = from[column];
        }
    }
}

static void stream_full(int size, const int *kept, const real *v, double *rows, int are_first,
                        double *rest)
{
    if (size > MOST_IN_ROWS)
        stream_columns(size, kept, v, rows);
    else
        stream_rows(size, kept, v, rows, are_first, rest);
}

INLINE int may_stream(int size) { return LANES * size >= LINE; }

/* What is left when the rows that end at `rows` have been streamed. */
INLINE void end_stream(int size, double *rows, const double *rest)
{
    if (may_stream(size) && size <= MOST_IN_ROWS) store_rest(rows, rest);
}

INLINE void end_streams(void) { __builtin_ia32_sfence(); }
#else
INLINE int may_stream(int size) { return size < 0; }
INLINE void stream_full(int size, const int *kept, const real *v, double *rows, int are_first,
                        double *rest)
{
    (void)size, (void)kept, (void)v, (void)rows, (void)are_first, (void)rest;
}
INLINE void end_stream(int size, double *rows, const double *rest)
{
    (void)size, (void)rows, (void)rest;
}
INLINE void end_streams(void) { }
#endif

INLINE int count_samples(int samples)
{
    int count = 0;
    for (; samples; samples &= samples - 1) ++count;
    return count;
}

/* Room for the vectors of all arrays of a kernel, in bytes; the vectors are aligned in it. */
static size_t room_of(const struct kernel *f)
{
    size_t entries = 1;
    for (int i = 0; i < f->inputs; ++i) entries += (size_t)f->input[i];
    for (int i = 0; i < f->outputs; ++i) entries += (size_t)f->output[i];
    return entries * sizeof(real);
}

/* The kernel on the samples from `first` up to `end`; x[i] steps by dx[i] from one sample to the
 * next, by 0 where all have the same.  Results go past the caches if they `stream`.  Returns how many
 * samples had a singular matrix. */
static ptrdiff_t compute_samples(const struct kernel *f, ptrdiff_t first, ptrdiff_t end,
                              const double *const *x, const ptrdiff_t *dx, double *const *y,
                              char *room, int stream)
{
    real *const arrays = (real *)(room + (sizeof(real) - (size_t)room % sizeof(real)) % sizeof(real));
    double rest[MOST_ARRAYS][LINE];
    const real *inputs[MOST_ARRAYS];
    real *in[MOST_ARRAYS], *out[MOST_ARRAYS], *next = arrays;
    ptrdiff_t singular = 0;
    for (int i = 0; i < f->inputs; next += f->input[i++]) {
        inputs[i] = in[i] = next;
        if (!dx[i])
            for (int k = 0; k < f->input[i]; ++k) in[i][k] = REAL(x[i][k]);
    }
    real *const results = next;
    for (int i = 0; i < f->outputs; next += f->output[i++]) out[i] = next;
    for (real *entry = results; entry < next; ++entry) *entry = REAL(0.0);
    for (ptrdiff_t sample = first; sample < end; sample += LANES) {
        const int valid = end - sample < LANES ? (int)(end - sample) : LANES;
        for (int i = 0; i < f->inputs; ++i) {
            if (!dx[i]) continue;
            const double *rows = x[i] + sample * dx[i];
            if (valid == LANES)
                load_full(f->input[i], rows, in[i]);
            else
                load_some(f->input[i], rows, valid, in[i]);
        }
        const int samples = f->compute(inputs, out) & ((1 << valid) - 1);
        for (int i = 0; i < f->outputs; ++i) {
            double *rows = y[i] + sample * f->row[i];
            if (valid < LANES)
                store_some(f->row[i], f->kept[i], out[i], valid, rows);
            else if (stream && may_stream(f->row[i]))
                stream_full(f->row[i], f->kept[i], out[i], rows, sample == first, rest[i]);
            else if (f->kept[i])
                store_kept(f->row[i], f->kept[i], out[i], rows);
            else
                store_all(f->row[i], out[i], rows);
        }
        if (samples) {  /* NaN also where there are zeros */
            singular += count_samples(samples);
            for (real *entry = results; entry < next; ++entry) *entry = REAL(0.0);
        }
    }
    if (stream) {
        const ptrdiff_t full = first + (end - first) / LANES * LANES;
        for (int i = 0; full > first && i < f->outputs; ++i)
            end_stream(f->row[i], y[i] + full * f->row[i], rest[i]);
        end_streams();
    }
    return singular;
}

#else

static size_t room_of(const struct kernel *f)
{
    (void)f;
    return 0;
}

static ptrdiff_t compute_samples(const struct kernel *f, ptrdiff_t first, ptrdiff_t end,
                              const double *const *x, const ptrdiff_t *dx, double *const *y,
                              char *room, int stream)
{
    const double *in[MOST_ARRAYS];
    double *out[MOST_ARRAYS];
    ptrdiff_t singular = 0;
    (void)room, (void)stream;
    for (int i = 0; i < f->inputs; ++i) in[i] = x[i] + first * dx[i];
    for (int i = 0; i < f->outputs; ++i) out[i] = y[i] + first * f->row[i];
    for (ptrdiff_t sample = first; sample < end; ++sample) {
        singular += f->compute(in, out);
        for (int i = 0; i < f->inputs; ++i) in[i] += dx[i];
        for (int i = 0; i < f->outputs; ++i) out[i] += f->row[i];
    }
    return singular;
}

#endif

#endif
