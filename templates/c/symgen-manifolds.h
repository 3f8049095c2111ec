/* Steps of joints with a quaternion: symgen/runtime/configuration.py and
 * symgen/simulation/fixed_steps.py in C, with the same names.
 *
 * A ball has qx qy qz qw in q, and its angular velocity among the n velocities; a free body has the
 * position ahead of them, and a linear velocity.  Both velocities are in the axes of the link.
 */
#ifndef SYMGEN_MANIFOLDS_H
#define SYMGEN_MANIFOLDS_H

struct symgen_joint {
    int free, q, v;  /* whether it is a free body; its first entry in q, its first velocity */
};

#ifdef SYMGEN_MECHANISM_CODE

static const double SMALL = 1e-2;  /* squares of angles below which series are exact to rounding */
enum { MOST_TERMS = 40 };

static void add_cross(double factor, const double *a, const double *b, double *target)
{
    target[0] += factor * (a[1] * b[2] - a[2] * b[1]);
    target[1] += factor * (a[2] * b[0] - a[0] * b[2]);
    target[2] += factor * (a[0] * b[1] - a[1] * b[0]);
}

/* sin(x / 2) / x, cos(x / 2), (1 - cos x) / x^2 and (x - sin x) / x^3, of the square of x. */
static void shares(double square, double *found)
{
    const double s = square;
    if (s < SMALL) {
        found[0] = 0.5 - s * (1.0 / 48 - s * (1.0 / 3840 - s * (1.0 / 645120 - s / 185794560)));
        found[1] = 1.0 - s * (1.0 / 8 - s * (1.0 / 384 - s * (1.0 / 46080 - s / 10321920)));
        found[2] = 0.5 - s * (1.0 / 24 - s * (1.0 / 720 - s * (1.0 / 40320 - s / 3628800)));
        found[3] = 1.0 / 6 - s * (1.0 / 120 - s * (1.0 / 5040 - s * (1.0 / 362880 - s / 39916800)));
    } else {
        const double x = sqrt(s);
        found[0] = sin(0.5 * x) / x;
        found[1] = cos(0.5 * x);
        found[2] = (1.0 - cos(x)) / s;
        found[3] = (x - sin(x)) / (s * x);
    }
}

/* The quaternion `turn`, turned by the rotation vector w of its own axes: of both signs the one near it. */
static void turned(const double *turn, const double *w, const double *share, double *found)
{
    double spin[4], sign = 0.0;
    for (int i = 0; i < 3; ++i) spin[i] = share[0] * w[i];
    spin[3] = share[1];
    for (int i = 0; i < 3; ++i) found[i] = turn[3] * spin[i] + spin[3] * turn[i];
    add_cross(1.0, turn, spin, found);
    found[3] = turn[3] * spin[3] - turn[0] * spin[0] - turn[1] * spin[1] - turn[2] * spin[2];
    for (int i = 0; i < 4; ++i) sign += found[i] * turn[i];
    for (int i = 0; i < 4 && sign < 0.0; ++i) found[i] = -found[i];
}

/* The position of a free body behind the twist v, w. */
static void travelled(const double *q, const double *v, const double *w, const double *share, double *found)
{
    const double *const turn = q + 3;
    double once[3] = {0}, way[3], across[3] = {0};
    add_cross(1.0, w, v, once);
    for (int i = 0; i < 3; ++i) way[i] = v[i] + share[2] * once[i];
    add_cross(share[3], w, once, way);
    add_cross(1.0, turn, way, across);
    for (int i = 0; i < 3; ++i) found[i] = q[i] + way[i] + 2.0 * turn[3] * across[i];
    add_cross(2.0, turn, across, found);
}

/* found (nq) is where q (nq) is behind the displacement u (n). */
static void integrate(const struct symgen_joint *joint, int joints, int nq, const double *q, const double *u,
                      double *found)
{
    int i = 0, k = 0;
    for (int j = 0; j <= joints; ++j) {
        const int stop = j < joints ? joint[j].q : nq;
        for (; i < stop; ++i, ++k) found[i] = q[i] + u[k];
        if (j == joints) return;
        const int skip = joint[j].free ? 3 : 0;
        const double *const w = u + k + skip;
        double share[4];
        shares(w[0] * w[0] + w[1] * w[1] + w[2] * w[2], share);
        if (skip) travelled(q + i, u + k, w, share, found + i);
        turned(q + i + skip, w, share, found + i + skip);
        i += skip + 4;
        k += skip + 3;
    }
}

/* Quaternions of q get the norm 1. */
static void normalize(const struct symgen_joint *joint, int joints, double *q)
{
    for (int j = 0; j < joints; ++j) {
        double *const turn = q + joint[j].q + (joint[j].free ? 3 : 0);
        double square = 0.0;
        for (int i = 0; i < 4; ++i) square += turn[i] * turn[i];
        for (int i = 0; i < 4; ++i) turn[i] /= sqrt(square);
    }
}

/* block (3, 3) of a matrix with n columns becomes that of w x. */
static void set_crossing(int n, const double *w, double *block)
{
    block[1] = -w[2], block[2] = w[1];
    block[n] = w[2], block[n + 2] = -w[0];
    block[2 * n] = -w[1], block[2 * n + 1] = w[0];
}

enum { BLOCK = 36 };  /* numbers of a matrix of one joint, (6, 6) or (3, 3) */

static int width(const struct symgen_joint *joint)
{
    return joint->free ? 6 : 3;
}

/* ad (k, k) of a joint: ad e = [u, e]. */
static void set_bracket(const struct symgen_joint *joint, const double *u, double *ad)
{
    const int k = width(joint), w = k - 3;
    memset(ad, 0, sizeof(double) * (size_t)(k * k));
    set_crossing(k, u + w, ad + w * k + w);
    if (!w) return;
    set_crossing(k, u + w, ad);
    set_crossing(k, u, ad + w);
}

/* target (k, k) = a . b */
static void multiply_blocks(int k, const double *a, const double *b, double *target)
{
    for (int i = 0; i < k; ++i)
        for (int j = 0; j < k; ++j) {
            double sum = 0.0;
            for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * k + j];
            target[i * k + j] = sum;
        }
}

/* T and carry of the displacement u: a block for every joint; elsewhere they are 1. */
static void set_operators(const struct symgen_joint *joint, int joints, const double *u, double *turn,
                          double *carry)
{
    for (int j = 0; j < joints; ++j, turn += BLOCK, carry += BLOCK) {
        const int k = width(joint + j), size = k * k;
        double ad[BLOCK], term[BLOCK] = {0}, next[BLOCK], greatest = 1.0;
        set_bracket(joint + j, u + joint[j].v, ad);
        for (int i = 0; i < k; ++i) term[i * k + i] = 1.0;
        memcpy(turn, term, sizeof(double) * (size_t)size);
        for (int power = 1; power < MOST_TERMS && greatest > 1e-17; ++power) {
            multiply_blocks(k, ad, term, next);
            greatest = 0.0;
            for (int i = 0; i < size; ++i) {
                turn[i] += term[i] = -next[i] / (power + 1);
                greatest = fmax(greatest, fabs(term[i]));
            }
        }
        multiply_blocks(k, ad, turn, carry);
        for (int i = 0; i < size; ++i) carry[i] = -carry[i];
        for (int i = 0; i < k; ++i) carry[i * k + i] += 1.0;
    }
}

/* target (n, s) += blocks . b - b: what joints add to b. */
static void add_turned_rows(const struct symgen_joint *joint, int joints, int s, const double *blocks,
                            const double *b, double *target)
{
    for (int j = 0; j < joints; ++j, blocks += BLOCK) {
        const int k = width(joint + j), v = joint[j].v;
        for (int i = 0; i < k; ++i)
            for (int l = 0; l < k; ++l) {
                const double factor = blocks[i * k + l] - (i == l);
                for (int c = 0; c < s; ++c) target[(v + i) * s + c] += factor * b[(v + l) * s + c];
            }
    }
}

/* target (rows, n) += factor * (matrix (rows, n) . blocks - matrix) */
static void add_turned_columns(const struct symgen_joint *joint, int joints, int rows, int n, double factor,
                               const double *blocks, const double *matrix, double *target)
{
    for (int j = 0; j < joints; ++j, blocks += BLOCK) {
        const int k = width(joint + j), v = joint[j].v;
        for (int i = 0; i < rows; ++i) {
            const double *const from = matrix + i * n + v;
            for (int c = 0; c < k; ++c) {
                double sum = -from[c];
                for (int l = 0; l < k; ++l) sum += from[l] * blocks[l * k + c];
                target[i * n + v + c] += factor * sum;
            }
        }
    }
}

#endif
#endif
