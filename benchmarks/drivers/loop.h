/* A loop over a pool of states, timed inside C, in seconds of processor time of this thread.  CALL may use
 *     x[k]   the samples of argument k, one after the other
 *     y[k]   where result k goes, the same place for every sample
 *     s      the number of the sample
 */
#define _POSIX_C_SOURCE 199309L
#include <time.h>

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#define TIMED_LOOP(NAME, CALL)                                                              \
    double NAME(long calls, long samples, const double *const *x, double *const *y)         \
    {                                                                                       \
        const double start = processor_seconds();                                           \
        for (long s = 0; calls > 0; calls--) {                                              \
            CALL;                                                                           \
            s = s + 1 == samples ? 0 : s + 1;                                               \
        }                                                                                   \
        return processor_seconds() - start;                                                 \
    }
