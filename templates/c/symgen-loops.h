/* What loops over joints compute with: `wide`, one number of each of several joints.
 *
 * A kernel for one sample takes as many joints at a time as the processor's vectors hold; one for
 * several samples has a vector for every joint as it is, and takes the joints one by one.  Columns
 * and rows of square arrays that stay inside have room for whole vectors.
 *
 * This file is the same for every robot.
 */
#ifndef SYMGEN_LOOPS_H
#define SYMGEN_LOOPS_H

#include "symgen-real.h"

#if defined(__GNUC__)
#define ALIGNED __attribute__((aligned(64)))
#define UNROLLED _Pragma("GCC unroll 4")
#define LOOPS static __attribute__((noinline, unused))
#else
#define ALIGNED
#define UNROLLED
#define LOOPS static
#endif

#if SYMGEN_WIDTH == 1 && defined(__GNUC__)

#define WIDE LANES

typedef lanes wide;
typedef double lanes_in_memory __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

#define EACH(x) BROADCAST(x)
#define AT(address) (*(lanes_in_memory *)(address))
#define SOME(place) (*(const lanes_in_memory *)(columns + (place)))
#define CONSTANT(place) (*(const lanes_in_memory *)(constants + (place)))

/* A row of a square array, and a bit for every column of a vector that its joint carries, or is, and
 * for every one that carries it. */
struct visit {
    short row;
    unsigned char beyond, before;
};

/* x where there is a bit, else 0. */
INLINE wide where(int choice, wide x)
{
#if LANES == 8
    const bits places = {1, 2, 4, 8, 16, 32, 64, 128};
#elif LANES == 4
    const bits places = {1, 2, 4, 8};
#else
    const bits places = {1, 2};
#endif
    const bits chosen = ((bits){0} + choice & places) == places;
    return (wide)((bits)x & chosen);
}

/* Columns c and following of row r of a square array.  What goes beyond the row must be overwritten
 * later: rows are filled one after the other, or vectors of columns from the last to the first. */
INLINE void put_in_row(double *square, int size, int stride, int r, int c, wide x)
{
    double *const at = square + r * stride + c;
    const int left = size * stride - r * stride - c;
    if (left >= WIDE)
        AT(at) = x;
    else
        for (int i = 0; i < left; ++i) at[i] = x[i];
}

INLINE double total(wide x)
{
    double sum = x[0];
    for (int i = 1; i < LANES; ++i) sum += x[i];
    return sum;
}

#else

#define WIDE 1

typedef real wide;

#define EACH(x) REAL(x)
#define AT(address) (*(address))
#define SOME(place) (columns[place])
#define CONSTANT(place) REAL(constants[place])

INLINE void put_in_row(real *square, int size, int stride, int r, int c, wide x)
{
    (void)size;
    square[r * stride + c] = x;
}

#endif

#define EVERY(place) EACH(columns[place])
#define PUT(place, value) (AT(columns + (place)) = (value))

/* ---- solving: M = L^T D L, leaves first (Featherstone 2008, section 6.5) ----
 *
 * For every joint the joints from the base to it, itself the last, and those that it carries. */
struct tree {
    int size;
    const int *path, *path_until, *carried, *carried_until;
};

#define PATH_TO(k) (t->path + t->path_until[k])
#define BEFORE(k) (t->path_until[(k) + 1] - t->path_until[k] - 1)

/* y_i = sum of m_ik x_k over the joints related to i */
LOOPS void multiply(const struct tree *t, const real *restrict m, int stride, const real *restrict x,
                    real *restrict y)
{
    for (int i = 0; i < t->size; ++i) {
        const real *const row = m + i * stride;
#if WIDE > 1
        wide sum = EACH(0.0);
        for (int k = 0; k < t->size; k += WIDE) sum += AT(row + k) * AT(x + k);
        y[i] = total(sum);
#else
        const int *const path = PATH_TO(i);
        real sum = REAL(0.0);
        for (int a = 0; a <= BEFORE(i); ++a) sum += row[path[a]] * x[path[a]];
        for (int a = t->carried_until[i]; a < t->carried_until[i + 1]; ++a)
            sum += row[t->carried[a]] * x[t->carried[a]];
        y[i] = sum;
#endif
    }
}

/* L below the diagonal of m, 1 / D on it; what stands above is lost. */
LOOPS void factorise(const struct tree *t, real *restrict m, int stride, real *restrict pivots,
                     real *restrict diagonal)
{
    for (int k = 0; k < t->size; ++k) diagonal[k] = m[k * (stride + 1)];
    for (int k = t->size - 1; k >= 0; --k) {
        real *const row = m + k * stride;
        const int *const path = PATH_TO(k);
        pivots[k] = row[k];
        row[k] = REAL(1.0) / row[k];
        for (int a = BEFORE(k) - 1; a >= 0; --a) {
            const int i = path[a];
            const real multiplier = row[i] * row[k];
            real *const other = m + i * stride;
#if WIDE > 1
            const wide all = EACH(multiplier);
            for (int c = 0; c <= i; c += WIDE) AT(other + c) -= all * AT(row + c);
#else
            for (int c = 0; c <= a; ++c) other[path[c]] -= multiplier * row[path[c]];
#endif
            row[i] = multiplier;
        }
    }
}

/* M x = b, x in place of b */
LOOPS void solve_column(const struct tree *t, const real *restrict m, int stride, real *restrict x)
{
    for (int k = t->size - 1; k >= 0; --k)
        for (int a = 0; a < BEFORE(k); ++a) x[PATH_TO(k)[a]] -= m[k * stride + PATH_TO(k)[a]] * x[k];
    for (int k = 0; k < t->size; ++k) {
        real sum = m[k * (stride + 1)] * x[k];
        for (int a = 0; a < BEFORE(k); ++a) sum -= m[k * stride + PATH_TO(k)[a]] * x[PATH_TO(k)[a]];
        x[k] = sum;
    }
}

/* Rows of four vectors, or of one: r less the multiples of other rows. */
#define LESS_4(multiplier, row) \
    do { \
        const wide factor = EACH(multiplier); \
        const real *const from = row; \
        r0 -= factor * AT(from); \
        r1 -= factor * AT(from + WIDE); \
        r2 -= factor * AT(from + 2 * WIDE); \
        r3 -= factor * AT(from + 3 * WIDE); \
    } while (0)
#define LESS_1(multiplier, row) (r0 -= EACH(multiplier) * AT(row))

INLINE void solve_four(const struct tree *t, const real *m, int stride, real *b, real *x, int c)
{
    for (int i = t->size - 1; i >= 0; --i) {
        real *const at = b + i * stride + c;
        wide r0 = AT(at), r1 = AT(at + WIDE), r2 = AT(at + 2 * WIDE), r3 = AT(at + 3 * WIDE);
        for (int a = t->carried_until[i]; a < t->carried_until[i + 1]; ++a)
            LESS_4(m[t->carried[a] * stride + i], b + t->carried[a] * stride + c);
        AT(at) = r0, AT(at + WIDE) = r1, AT(at + 2 * WIDE) = r2, AT(at + 3 * WIDE) = r3;
    }
    for (int k = 0; k < t->size; ++k) {
        real *const at = b + k * stride + c;
        const wide pivot = EACH(-m[k * (stride + 1)]);
        wide r0 = pivot * AT(at), r1 = pivot * AT(at + WIDE);
        wide r2 = pivot * AT(at + 2 * WIDE), r3 = pivot * AT(at + 3 * WIDE);
        for (int a = 0; a < BEFORE(k); ++a)
            LESS_4(m[k * stride + PATH_TO(k)[a]], b + PATH_TO(k)[a] * stride + c);
        AT(at) = r0, AT(at + WIDE) = r1, AT(at + 2 * WIDE) = r2, AT(at + 3 * WIDE) = r3;
        put_in_row(x, t->size, t->size, k, c, r0);
        put_in_row(x, t->size, t->size, k, c + WIDE, r1);
        put_in_row(x, t->size, t->size, k, c + 2 * WIDE, r2);
        put_in_row(x, t->size, t->size, k, c + 3 * WIDE, r3);
    }
}

INLINE void solve_one(const struct tree *t, const real *m, int stride, real *b, real *x, int c)
{
    for (int i = t->size - 1; i >= 0; --i) {
        real *const at = b + i * stride + c;
        wide r0 = AT(at);
        for (int a = t->carried_until[i]; a < t->carried_until[i + 1]; ++a)
            LESS_1(m[t->carried[a] * stride + i], b + t->carried[a] * stride + c);
        AT(at) = r0;
    }
    for (int k = 0; k < t->size; ++k) {
        real *const at = b + k * stride + c;
        wide r0 = EACH(-m[k * (stride + 1)]) * AT(at);
        for (int a = 0; a < BEFORE(k); ++a)
            LESS_1(m[k * stride + PATH_TO(k)[a]], b + PATH_TO(k)[a] * stride + c);
        AT(at) = r0;
        put_in_row(x, t->size, t->size, k, c, r0);
    }
}

/* M X = -B; b is lost */
LOOPS void solve_square(const struct tree *t, const real *restrict m, int stride, real *restrict b,
                        real *restrict x)
{
    int c = (t->size - 1) / WIDE * WIDE;
    for (; (c / WIDE + 1) % 4; c -= WIDE) solve_one(t, m, stride, b, x, c);
    for (c -= 3 * WIDE; c >= 0; c -= 4 * WIDE) solve_four(t, m, stride, b, x, c);
}

/* X = M^-1: row by row up to the diagonal, L M^-1 = D^-1 L^-T, and mirrored */
LOOPS void invert(const struct tree *t, const real *restrict m, int stride, real *restrict x)
{
    const int n = t->size;
    for (int k = 0; k < n; ++k) {
        int c = 0;
        for (; c + 3 * WIDE < k; c += 4 * WIDE) {
            wide r0 = EACH(0.0), r1 = r0, r2 = r0, r3 = r0;
            for (int a = 0; a < BEFORE(k); ++a)
                LESS_4(m[k * stride + PATH_TO(k)[a]], x + PATH_TO(k)[a] * n + c);
            put_in_row(x, n, n, k, c, r0);
            put_in_row(x, n, n, k, c + WIDE, r1);
            put_in_row(x, n, n, k, c + 2 * WIDE, r2);
            put_in_row(x, n, n, k, c + 3 * WIDE, r3);
        }
        for (; c < k && n >= WIDE; c += WIDE) {
            wide r0 = EACH(0.0);
            for (int a = 0; a < BEFORE(k); ++a)
                LESS_1(m[k * stride + PATH_TO(k)[a]], x + PATH_TO(k)[a] * n + c);
            put_in_row(x, n, n, k, c, r0);
        }
        for (; c < k; ++c) {  /* a robot smaller than a vector */
            real sum = REAL(0.0);
            for (int a = 0; a < BEFORE(k); ++a)
                sum -= m[k * stride + PATH_TO(k)[a]] * x[PATH_TO(k)[a] * n + c];
            x[k * n + c] = sum;
        }
        real own = m[k * (stride + 1)];
        for (int a = 0; a < BEFORE(k); ++a)
            own -= m[k * stride + PATH_TO(k)[a]] * x[k * n + PATH_TO(k)[a]];
        x[k * (n + 1)] = own;
        for (int i = 0; i < k; ++i) x[i * n + k] = x[k * n + i];
    }
}

#endif
