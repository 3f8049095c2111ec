/* Memory of results that stays for the next ones.
 *
 * A fresh page costs more than what a kernel writes into it.  So the data of large results come from
 * a pool, and return to it when NumPy frees the array: not before the last view of it has gone.
 * NumPy asks the allocator that an array carries ("mem_handler", NEP 49), wherever and whenever the
 * array ends, and takes it for one that owns its data.
 *
 * The pool is that of the process: the first module that is imported makes it, and those that come
 * later, of other robots or other versions of symgen, find its table in the dict of the interpreter.
 * Arrays may outlive modules, so nothing here is ever unmade; extension modules stay loaded.
 *
 * This file is the same for every robot.  It is included after the headers of Python and NumPy.
 */
#ifndef SYMGEN_RESULTS_H
#define SYMGEN_RESULTS_H

#include <stdint.h>
#include <string.h>

#define RESULT_MEMORY "symgen.result_memory.1"  /* another number for another table */

/* What modules share. */
struct result_memory {
    void *(*take)(size_t size);   /* at a multiple of 64; 0: there is none */
    void (*give)(void *data);
    size_t (*kept)(void);         /* bytes that are not in use */
    size_t (*most)(void);         /* of them, at this moment */
    void (*set_most)(size_t most, int under_limits);  /* also where memory is limited? */
    int (*is_set)(void);          /* has it been set by anyone? */
    const int *keeps;             /* is anything kept? */
    PyObject *handler;
};

static const struct result_memory *result_memory = 0;  /* 0: NumPy's own */

#ifndef _WIN32

#include <pthread.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <sys/resource.h>

#define HUGE_PAGE ((size_t)1 << 21)
#define MAPPED ((size_t)1 << 16)  /* from here on memory goes back to the system at once */
#define TRIMMED ((size_t)1 << 24)
#define ALIGNMENT ((size_t)64)
#define PER_OCTAVE 8
#define SIZES (64 * PER_OCTAVE)

/* What stands in front of the data.  Sizes are rounded up to eighths of a power of two. */
struct buffer {
    size_t size;                     /* of all of it */
    struct buffer *newer, *older;    /* of all that are kept */
    struct buffer *above, *below;    /* of those of the same size */
    int mapped;
};

static struct {
    pthread_mutex_t lock;
    size_t kept, most;
    int is_set, under_limits, limited, keeps;
    struct buffer *newest, *oldest, *top[SIZES];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int octave_of(size_t size) { return 63 - __builtin_clzll((unsigned long long)size); }

static size_t rounded(size_t size)
{
    const size_t step = (size_t)1 << (octave_of(size) - 3);
    return (size + step - 1) & ~(step - 1);
}

/* The number of a rounded size. */
static int number_of(size_t size)
{
    const int octave = octave_of(size);
    return octave * PER_OCTAVE + (int)((size >> (octave - 3)) & (PER_OCTAVE - 1));
}

/* ---- from the system and back ---- */

/* At a multiple of the size of huge pages, if it is as large as one. */
static void *mapped(size_t size)
{
    const size_t more = size >= HUGE_PAGE ? HUGE_PAGE : 0;
    char *start = mmap(0, size + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return 0;
    if (!more) return start;
    const size_t before = (HUGE_PAGE - (uintptr_t)start % HUGE_PAGE) % HUGE_PAGE;
    if (before) munmap(start, before);
    munmap(start + before + size, more - before);
#ifdef MADV_HUGEPAGE
    madvise(start + before, size, MADV_HUGEPAGE);
#endif
    return start + before;
}

static struct buffer *fresh(size_t size)
{
    void *start = size >= MAPPED ? mapped(size) : 0;
    const int is_mapped = start != 0;
    if (!start && posix_memalign(&start, ALIGNMENT, size)) return 0;
    struct buffer *buffer = start;
    buffer->size = size;
    buffer->mapped = is_mapped;
    return buffer;
}

/* A list that is linked by `older`.  What was not mapped is free, but still resident until the C
 * library is told to look through its heap. */
static void release(struct buffer *buffer)
{
    static size_t unmapped = 0;
    size_t sum = 0;
    while (buffer) {
        struct buffer *next = buffer->older;
        if (buffer->mapped) {
            munmap(buffer, buffer->size);
        } else {
            sum += buffer->size;
            free(buffer);
        }
        buffer = next;
    }
#ifdef __GLIBC__
    if (sum && __atomic_add_fetch(&unmapped, sum, __ATOMIC_RELAXED) > TRIMMED) {
        __atomic_store_n(&unmapped, 0, __ATOMIC_RELAXED);
        malloc_trim(0);
    }
#endif
}

/* ---- what is kept; the lock is held ---- */

static void take_out(struct buffer *buffer)
{
    *(buffer->newer ? &buffer->newer->older : &pool.newest) = buffer->older;
    *(buffer->older ? &buffer->older->newer : &pool.oldest) = buffer->newer;
    *(buffer->above ? &buffer->above->below : &pool.top[number_of(buffer->size)]) = buffer->below;
    if (buffer->below) buffer->below->above = buffer->above;
    pool.kept -= buffer->size;
}

static void put_in(struct buffer *buffer)
{
    struct buffer **const top = &pool.top[number_of(buffer->size)];
    buffer->newer = buffer->above = 0;
    buffer->older = pool.newest;
    buffer->below = *top;
    *(pool.newest ? &pool.newest->newer : &pool.oldest) = buffer;
    if (*top) (*top)->above = buffer;
    pool.newest = *top = buffer;
    pool.kept += buffer->size;
}

/* What is too much, those first that have been kept for the longest time. */
static struct buffer *too_much(size_t most)
{
    struct buffer *list = 0;
    while (pool.kept > most) {
        struct buffer *buffer = pool.oldest;
        take_out(buffer);
        buffer->older = list;
        list = buffer;
    }
    return list;
}

static size_t most_now(void) { return pool.limited ? 0 : pool.most; }

/* Whether somebody limits the memory of this process: then all of it is for those who use it. */
static void look_for_limits(void)
{
    struct rlimit space, data;
    pool.limited = !pool.under_limits
        && ((!getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY)
            || (!getrlimit(RLIMIT_DATA, &data) && data.rlim_cur != RLIM_INFINITY));
    pool.keeps = most_now() > 0;
}

/* ---- the table ---- */

static void give(void *data)
{
    struct buffer *const buffer = (struct buffer *)((char *)data - ALIGNMENT);
    pthread_mutex_lock(&pool.lock);
    if (buffer->size >= MAPPED) look_for_limits();
    put_in(buffer);
    struct buffer *const list = too_much(most_now());
    pthread_mutex_unlock(&pool.lock);
    release(list);
}

static void *take(size_t size)
{
    if (size > SIZE_MAX / 2) return 0;
    size = rounded(size + ALIGNMENT);
    pthread_mutex_lock(&pool.lock);
    struct buffer *buffer = pool.top[number_of(size)], *list = 0;
    if (buffer) {
        take_out(buffer);
    } else {
        look_for_limits();
        list = too_much(most_now());
    }
    pthread_mutex_unlock(&pool.lock);
    release(list);
    if (!buffer && !(buffer = fresh(size))) {
        pthread_mutex_lock(&pool.lock);
        list = too_much(0);
        pthread_mutex_unlock(&pool.lock);
        release(list);
        buffer = fresh(size);
    }
    return buffer ? (char *)buffer + ALIGNMENT : 0;
}

static size_t kept(void)
{
    pthread_mutex_lock(&pool.lock);
    const size_t found = pool.kept;
    pthread_mutex_unlock(&pool.lock);
    return found;
}

static size_t most(void)
{
    pthread_mutex_lock(&pool.lock);
    look_for_limits();
    struct buffer *const list = too_much(most_now());
    const size_t found = most_now();
    pthread_mutex_unlock(&pool.lock);
    release(list);
    return found;
}

static void set_most(size_t number, int under_limits)
{
    pthread_mutex_lock(&pool.lock);
    pool.is_set = 1;
    pool.most = number;
    pool.under_limits = under_limits;
    pthread_mutex_unlock(&pool.lock);
    most();
}

static int is_set(void) { return pool.is_set; }

/* ---- as NumPy calls it ---- */

static void *numpy_malloc(void *context, size_t size) { (void)context; return take(size); }

static void *numpy_calloc(void *context, size_t number, size_t size)
{
    (void)context;
    if (size && number > SIZE_MAX / size) return 0;
    void *const data = take(number * size);
    if (data) memset(data, 0, number * size);
    return data;
}

static void numpy_free(void *context, void *data, size_t size)
{
    (void)context;
    (void)size;  /* what the array holds now, which `resize` or somebody else may have changed */
    if (data) give(data);
}

static void *numpy_realloc(void *context, void *data, size_t size)
{
    (void)context;
    void *const other = take(size);
    if (data && other) {
        const size_t held = ((struct buffer *)((char *)data - ALIGNMENT))->size - ALIGNMENT;
        memcpy(other, data, held < size ? held : size);
        give(data);
    }
    return other;
}

static PyDataMem_Handler result_handler = {
    "symgen", 1, {0, numpy_malloc, numpy_calloc, numpy_realloc, numpy_free}};

static struct result_memory own_memory = {
    take, give, kept, most, set_most, is_set, &pool.keeps, 0};

/* No thread changes the pool while the process forks. */
static void lock_pool(void) { pthread_mutex_lock(&pool.lock); }
static void unlock_pool(void) { pthread_mutex_unlock(&pool.lock); }

/* Find the pool of this process, or make it; -1 and an exception where that cannot be done. */
static int find_result_memory(void)
{
    PyObject *const shared = PyInterpreterState_GetDict(PyInterpreterState_Get());
    if (!shared) return 0;
    PyObject *table = PyDict_GetItemString(shared, RESULT_MEMORY);
    if (!table) {
        own_memory.handler = PyCapsule_New(&result_handler, "mem_handler", 0);
        table = own_memory.handler ? PyCapsule_New(&own_memory, RESULT_MEMORY, 0) : 0;
        if (!table || PyDict_SetItemString(shared, RESULT_MEMORY, table)) return -1;
        Py_DECREF(table);  /* the dict holds it, and the handler is never let go */
        pthread_atfork(lock_pool, unlock_pool, unlock_pool);
    }
    result_memory = PyCapsule_GetPointer(table, RESULT_MEMORY);
    return result_memory ? 0 : -1;
}

#else

static int find_result_memory(void) { return 0; }

#endif

/* ---- arrays ---- */

#define LARGE_RESULT 1024  /* bytes: NumPy keeps smaller ones itself */
#define NUMPY_DOMAIN 389047  /* numpy.lib.tracemalloc_domain: NumPy ends there what begins here */

static PyArray_Descr *float64 = 0;

/* Bytes of an array of numbers; 0: none, or more than can be counted. */
static size_t bytes_of(int axes, const npy_intp *shape)
{
    size_t size = sizeof(double);
    for (int axis = 0; axis < axes; ++axis) {
        if (shape[axis] <= 0 || size > (size_t)PTRDIFF_MAX / (size_t)shape[axis]) return 0;
        size *= (size_t)shape[axis];
    }
    return size;
}

/* A new array of numbers; 0 and an exception where there is no memory. */
static PyObject *new_result(int axes, npy_intp *shape)
{
    const size_t size = bytes_of(axes, shape);
    void *const data = result_memory && size > LARGE_RESULT ? result_memory->take(size) : 0;
    if (!data) return PyArray_SimpleNew(axes, shape, NPY_DOUBLE);  /* which says what is wrong */
    PyObject *const array = PyArray_New(
        &PyArray_Type, axes, shape, NPY_DOUBLE, 0, data, 0, NPY_ARRAY_CARRAY, 0);
    if (!array) {
        result_memory->give(data);
        return 0;
    }
    Py_INCREF(result_memory->handler);
    ((PyArrayObject_fields *)array)->mem_handler = result_memory->handler;
    PyArray_ENABLEFLAGS((PyArrayObject *)array, NPY_ARRAY_OWNDATA);
    PyTraceMalloc_Track(NUMPY_DOMAIN, (uintptr_t)data, size);
    return array;
}

static int keeps_results(void) { return result_memory && *result_memory->keeps; }

/* Whether an array that new_result made has one owner, and is as it was but for its shape: no view,
 * no buffer, no weak reference shows it.  References are counted so where there is one lock. */
static int is_unseen(PyObject *array)
{
#ifdef Py_GIL_DISABLED
    (void)array;
    return 0;
#else
    const PyArrayObject_fields *const a = (const PyArrayObject_fields *)array;
    const int own = NPY_ARRAY_CARRAY | NPY_ARRAY_OWNDATA;
    const int checked = own | NPY_ARRAY_WRITEBACKIFCOPY;
    return Py_REFCNT(array) == 1 && !a->weakreflist && !a->base && (a->flags & checked) == own
        && a->descr == float64;
#endif
}

#endif
