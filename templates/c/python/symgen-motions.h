/* Motions of mechanisms, called from Python: what the C of symgen-motions.c is told of a robot.
 *
 * This file is the same for every robot.
 */
#ifndef SYMGEN_MOTIONS_H
#define SYMGEN_MOTIONS_H

#include "symgen-calls.h"
#include "../symgen-mechanism.h"

struct symgen_motions {
    int n, nq, m, p, loads, outputs, tells;  /* as in struct symgen_mechanism */
    const char *calls[CALLS];         /* functions that motions are made of, see symgen-mechanism.h */
    int (*advance)(const struct symgen_mechanism *of, const struct symgen_request *asked, double t, double h,
                   long steps, double *state, double *integrals, long *done, long *halved, double *left_over);
    int (*constrained)(const struct symgen_mechanism *of, const double **x, double **y, int slopes);
    const double *default_parameters, *zeros;
    int joints;  /* those with a quaternion */
    const struct symgen_joint *joint;
    const int *row_unit, *velocity_row;
};

/* Give `module`, which has its functions, those of motions; -1 and an exception where that fails. */
SYMGEN_HIDDEN int symgen_add_motions(PyObject *module, const struct symgen_motions *motions);

#endif
