/* What loops over joints compute with: `wide`, one number of each of several joints.
 *
 * A kernel for one sample takes as many joints at a time as the processor's vectors hold; one for
 * several samples has a vector for every joint as it is, and takes the joints one by one.  Columns
 * have room for whole vectors.
 *
 * This file is the same for every robot.
 */
#ifndef SYMGEN_LOOPS_H
#define SYMGEN_LOOPS_H

#include "symgen-real.h"

#if defined(__GNUC__)
#define ALIGNED __attribute__((aligned(64)))
#define UNROLLED _Pragma("GCC unroll 4")
#else
#define ALIGNED
#define UNROLLED
#endif

#if SYMGEN_WIDTH == 1 && defined(__GNUC__)

#define WIDE LANES

typedef lanes wide;
typedef double lanes_in_memory __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

#define EACH(x) BROADCAST(x)
#define SOME(place) (*(const lanes_in_memory *)(columns + (place)))
#define EVERY(place) BROADCAST(columns[place])
#define CONSTANT(place) (*(const lanes_in_memory *)(constants + (place)))
#define PUT(place, value) (*(lanes_in_memory *)(columns + (place)) = (value))

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

/* Columns c and following of row r of a square array.  Beyond the row there are zeros: they go to
 * the first columns of the next row, which are filled later, as vectors of columns come from the
 * last to the first. */
INLINE void put_in_row(double *square, int size, int r, int c, wide x)
{
    double *const at = square + r * size + c;
    if (r + 1 < size || c + WIDE <= size)
        *(lanes_in_memory *)at = x;
    else
        for (int i = 0; i < size - c; ++i) at[i] = x[i];
}

#else

#define WIDE 1

typedef real wide;

#define EACH(x) REAL(x)
#define SOME(place) (columns[place])
#define EVERY(place) (columns[place])
#define CONSTANT(place) REAL(constants[place])
#define PUT(place, value) (columns[place] = (value))

#endif

#endif
