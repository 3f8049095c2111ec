/* Systems of mechanisms with a penalty w, and their solutions without one.
 *
 * Matrices are stored row by row; right sides stand side by side in s columns.
 * symgen/simulation/fixed_steps.py says how they are solved.
 *
 * This file is the same for every robot.
 */
#ifndef SYMGEN_PENALTY_H
#define SYMGEN_PENALTY_H

#ifdef SYMGEN_MECHANISM_CODE

#include "symgen-elimination.h"

enum { MOST_UPDATES = 20 };
static const double SETTLED = 1e-14;

struct symgen_system {  /* [A, J'; J, -1/w], factorised */
    double w, *factors;
    int *pivots;                /* of partial pivoting */
    struct symgen_order order;  /* of elimination without it */
    int is_sparse;              /* whether that has been used */
};

/* target (rows, s) += factor * matrix (rows, inner) . b (inner, s) */
static void add_product(int rows, int inner, int s, double factor, const double *matrix,
                        const double *restrict b, double *restrict target)
{
    for (int i = 0; i < rows; ++i, matrix += inner, target += s) {
        int k = 0;
        for (; k + 4 <= s; k += 4) {
            double sum[4] = {0};
            for (int j = 0; j < inner; ++j)
                for (int c = 0; c < 4; ++c) sum[c] += matrix[j] * b[j * s + k + c];
            for (int c = 0; c < 4; ++c) target[k + c] += factor * sum[c];
        }
        for (; k < s; ++k) {
            double sum = 0.0;
            for (int j = 0; j < inner; ++j) sum += matrix[j] * b[j * s + k];
            target[k] += factor * sum;
        }
    }
}

static double largest(const double *v, int size)
{
    double found = 0.0;
    for (int i = 0; i < size; ++i) {
        const double a = fabs(v[i]);
        if (!(a <= found)) found = a;  /* what is no number is the largest */
    }
    return found;
}

/* Factorise [A, J'; low, -1/w] with partial pivoting; the pivots are kept as their inverses. */
static int factorise_dense(struct symgen_system *system, const double *A, const double *J, const double *low,
                           int n, int m, double w)
{
    const int N = n + m;
    double *const a = system->factors;
    memset(a, 0, sizeof(double) * (size_t)(N * N));
    for (int i = 0; i < n; ++i) {
        memcpy(a + i * N, A + i * n, sizeof(double) * (size_t)n);
        for (int j = 0; j < m; ++j) a[i * N + n + j] = J[j * n + i];
    }
    for (int j = 0; j < m; ++j) memcpy(a + (n + j) * N, low + j * n, sizeof(double) * (size_t)n);
    for (int j = n; j < N; ++j) a[j * N + j] = -1.0 / w;
    for (int k = 0; k < N; ++k) {
        int best = k;
        for (int i = k + 1; i < N; ++i)
            if (fabs(a[i * N + k]) > fabs(a[best * N + k])) best = i;
        system->pivots[k] = best;
        if (!(fabs(a[best * N + k]) > 0.0)) return 0;
        if (best != k)
            for (int j = 0; j < N; ++j) {
                const double kept = a[k * N + j];
                a[k * N + j] = a[best * N + j];
                a[best * N + j] = kept;
            }
        const double inverse = a[k * N + k] = 1.0 / a[k * N + k];
        for (int i = k + 1; i < N; ++i) {
            const double factor = a[i * N + k] *= inverse;
            for (int j = k + 1; j < N; ++j) a[i * N + j] -= factor * a[k * N + j];
        }
    }
    return 1;
}

/* Factorise [A, J'; low, -1/w]; 0 where it is singular. */
static int factorise(struct symgen_system *system, const double *A, const double *J, const double *low, int n,
                     int m, double w)
{
    struct symgen_order *const o = &system->order;
    system->w = w;
    if (!o->dense) {
        const double *const rows = o->outside + n * n;
        if (differs(A, o->outside, n * n) || differs(J, rows, m * n) || differs(low, rows, m * n)) {
            note_entries(o, A, J, low);
            choose_order(o);
        }
    }
    int done = 0;
    while (!o->dense && (done = eliminate(o, system->factors, A, J, low, w)) < 0) choose_order(o);
    system->is_sparse = !o->dense && done;
    if (system->is_sparse) return 1;
    o->dense = 1;
    return factorise_dense(system, A, J, low, n, m, w);
}

/* b (N, s) becomes the solution. */
static void substitute(const struct symgen_system *system, int N, int s, double *b)
{
    const double *const a = system->factors;
    if (system->is_sparse) {
        substitute_in_order(&system->order, a, s, b);
        return;
    }
    for (int k = 0; k < N; ++k) {
        const int row = system->pivots[k];
        if (row == k) continue;
        for (int j = 0; j < s; ++j) {
            const double kept = b[k * s + j];
            b[k * s + j] = b[row * s + j];
            b[row * s + j] = kept;
        }
    }
    if (s == 1) {  /* column by column: no sum waits for itself */
        for (int k = 0; k < N; ++k)
            for (int i = k + 1; i < N; ++i) b[i] -= a[i * N + k] * b[k];
        for (int k = N - 1; k >= 0; --k) {
            b[k] *= a[k * N + k];
            for (int i = 0; i < k; ++i) b[i] -= a[i * N + k] * b[k];
        }
        return;
    }
    for (int i = 1; i < N; ++i) add_product(1, i, s, -1.0, a + i * N, b, b + i * s);
    for (int i = N - 1; i >= 0; --i) {
        add_product(1, N - 1 - i, s, -1.0, a + i * N + i + 1, b + (i + 1) * s, b + i * s);
        for (int j = 0; j < s; ++j) b[i * s + j] *= a[i * N + i];
    }
}

/* One more update: x (n + m, s) = [A, J'; J, -1/w]^-1 [above; below - y / w], y the last m rows of x. */
static void update(const struct symgen_system *system, int n, int m, int s, const double *above,
                   const double *below, double *x)
{
    for (int i = 0; i < m * s; ++i) x[n * s + i] = below[i] - x[n * s + i] / system->w;
    memcpy(x, above, sizeof(double) * (size_t)(n * s));
    substitute(system, n + m, s, x);
}

/* The solution with y computed so many times, from 0. */
static void solve(const struct symgen_system *system, int n, int m, int s, const double *above,
                  const double *below, int updates, double *x)
{
    memset(x + n * s, 0, sizeof(double) * (size_t)(m * s));
    while (updates--) update(system, n, m, s, above, below, x);
}

static double distance(const double *a, const double *b, int size)
{
    double found = 0.0;
    for (int i = 0; i < size; ++i) {
        const double moved = fabs(a[i] - b[i]);
        if (!(moved <= found)) found = moved;
    }
    return found;
}

/* The solution without penalty; by how much the last update moved it.  `last` is scratch, as x is. */
static double settle(const struct symgen_system *system, int n, int m, int s, const double *above,
                     const double *below, double *x, double *last)
{
    const int N = n + m;
    double moved = HUGE_VAL, change = HUGE_VAL;
    memset(x, 0, sizeof(double) * (size_t)(N * s));
    for (int k = 0; k < MOST_UPDATES; ++k) {
        const double moved_before = moved, change_before = change;
        memcpy(last, x, sizeof(double) * (size_t)(N * s));
        update(system, n, m, s, above, below, x);
        moved = distance(x, last, n * s);
        change = distance(x + n * s, last + n * s, m * s);
        /* the next update would be smaller than this one by as much as this than the last */
        if (k && !(change * (change / change_before) > SETTLED * largest(x + n * s, m * s))) break;
        if (moved > 0.5 * moved_before && change > 0.5 * change_before) break;  /* rounding, or a loss of rank */
    }
    return moved;
}

#endif
#endif
