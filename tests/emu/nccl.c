/* NCCL for ranks on one host without devices: the calls of kernels/cuda/nccl.h, by their names,
 * over shared memory. As in the library, calls return before they are done, and sums run in a
 * thread beside the caller. Arguments are checked strictly, and a sum is late on purpose, so that
 * a caller that does not wait for it reads something else. Test equipment.
 *   DRAGOMAN_EMU_NCCL=lost:N    the N-th sum finds the other ranks gone
 *                     silent:N  the N-th sum never ends, nor does aborting
 *                     refuse    ranks cannot meet
 *                     old       a version without non-blocking calls */
#include "kernels/cuda/nccl.h"

#include <emu_stream.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 16, CHUNK = 4096, JOBS = 1024, LAG_US = 300 };
enum { SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, REMOTE_ERROR = 6 };

/* State shared by the ranks. */
struct room {
    unsigned joined, arrived, round;
    size_t n[RANKS]; /* length of each rank's current sum */
    float part[RANKS][CHUNK];
};

struct job {
    float *x; /* NULL: no more jobs */
    size_t n;
    struct dg_emu_stream *stream;
};

struct ncclComm {
    struct room *room;
    int rank, ranks;
    struct dg_nccl_id id;
    char mode[16];
    unsigned fatal; /* number of the sum that fails; 0: none */
    pthread_t thread;
    int state; /* __atomic */
    bool stop; /* __atomic */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* guarded by lock */
    struct job jobs[JOBS];
    size_t first, last; /* counts of jobs taken, given */
};

int ncclGetVersion(int *version);
int ncclGetUniqueId(struct dg_nccl_id *id);
int ncclCommInitRankConfig(struct ncclComm **comm, int ranks, struct dg_nccl_id id, int rank,
    struct dg_nccl_config *config);
int ncclAllReduce(const void *send, void *receive, size_t n, int type, int op, struct ncclComm *c,
    cudaStream_t stream);
int ncclCommGetAsyncError(struct ncclComm *c, int *state);
int ncclCommFinalize(struct ncclComm *c);
int ncclCommDestroy(struct ncclComm *c);
int ncclCommAbort(struct ncclComm *c);
const char *ncclGetErrorString(int result);
const char *ncclGetLastError(struct ncclComm *c);

static const char *mode(void)
{
    const char *m = getenv("DRAGOMAN_EMU_NCCL");
    return m ? m : "";
}

static void nap(long us)
{
    const struct timespec time = {0, us * 1000};
    nanosleep(&time, NULL);
}

static void become(struct ncclComm *c, int state)
{
    __atomic_store_n(&c->state, state, __ATOMIC_RELEASE);
}

static bool stopped(struct ncclComm *c)
{
    return __atomic_load_n(&c->stop, __ATOMIC_ACQUIRE);
}

/* Waits for all ranks. Returns false if aborted meanwhile. */
static bool barrier(struct ncclComm *c)
{
    struct room *r = c->room;
    const unsigned round = __atomic_load_n(&r->round, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&r->arrived, 1, __ATOMIC_ACQ_REL) == (unsigned)c->ranks) {
        __atomic_store_n(&r->arrived, 0, __ATOMIC_RELEASE);
        __atomic_add_fetch(&r->round, 1, __ATOMIC_ACQ_REL);
        return true;
    }
    while (__atomic_load_n(&r->round, __ATOMIC_ACQUIRE) == round) {
        if (stopped(c))
            return false;
        nap(20);
    }
    return true;
}

static bool add_up(struct ncclComm *c, const struct job *j)
{
    struct room *r = c->room;
    r->n[c->rank] = j->n;
    for (size_t at = 0; at < j->n; at += CHUNK) {
        const size_t n = j->n - at < CHUNK ? j->n - at : CHUNK;
        memcpy(r->part[c->rank], j->x + at, n * sizeof *j->x);
        if (!barrier(c))
            return false;
        for (int k = 0; k < c->ranks; k++)
            if (r->n[k] != j->n) {
                fprintf(stderr, "emulated NCCL: rank %d adds %zu floats, rank %d %zu\n", c->rank,
                    j->n, k, r->n[k]);
                abort();
            }
        for (size_t i = 0; i < n; i++) {
            float sum = 0;
            for (int k = 0; k < c->ranks; k++)
                sum += r->part[k][i];
            j->x[at + i] = sum;
        }
        if (!barrier(c))
            return false;
    }
    return true;
}

/* Waits for a job. Returns false if aborted meanwhile. */
static bool next_job(struct ncclComm *c, struct job *out)
{
    pthread_mutex_lock(&c->lock);
    while (c->first == c->last && !stopped(c))
        pthread_cond_wait(&c->changed, &c->lock);
    const bool have = !stopped(c);
    if (have)
        *out = c->jobs[c->first++ % JOBS];
    pthread_mutex_unlock(&c->lock);
    return have;
}

static bool meet(struct ncclComm *c)
{
    __atomic_add_fetch(&c->room->joined, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&c->room->joined, __ATOMIC_ACQUIRE) < (unsigned)c->ranks) {
        if (stopped(c))
            return false;
        nap(100);
    }
    if (c->rank == 0)
        shm_unlink(c->id.bytes);
    become(c, DG_NCCL_SUCCESS);
    return true;
}

static void *work(void *arg)
{
    struct ncclComm *c = arg;
    struct job j;
    bool whole = meet(c);
    for (unsigned n = 1; whole && next_job(c, &j); n++) {
        if (!j.x) {
            if (barrier(c))
                become(c, DG_NCCL_SUCCESS);
            return NULL;
        }
        if (c->fatal == n) {
            become(c, !strcmp(c->mode, "lost") ? REMOTE_ERROR : DG_NCCL_SUCCESS);
            return NULL;
        }
        if (n == 1) /* by now all are connected */
            become(c, DG_NCCL_SUCCESS);
        nap(LAG_US);
        whole = add_up(c, &j);
        if (whole)
            __atomic_add_fetch(&j.stream->done, 1, __ATOMIC_ACQ_REL);
    }
    return NULL;
}

int ncclGetVersion(int *version)
{
    *version = strcmp(mode(), "old") ? 22809 : 21005;
    return DG_NCCL_SUCCESS;
}

int ncclGetUniqueId(struct dg_nccl_id *id)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    memset(id, 0, sizeof *id);
    snprintf(id->bytes, sizeof id->bytes, "/dragoman-emu-nccl-%d-%ld", (int)getpid(), now.tv_nsec);
    const int file = shm_open(id->bytes, O_CREAT | O_EXCL | O_RDWR, 0600);
    const bool whole = file >= 0 && !ftruncate(file, sizeof(struct room));
    if (file >= 0)
        close(file);
    return whole ? DG_NCCL_SUCCESS : SYSTEM_ERROR;
}

static struct room *enter(const char *name)
{
    const int file = shm_open(name, O_RDWR, 0);
    void *p = file < 0
                  ? MAP_FAILED
                  : mmap(NULL, sizeof(struct room), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    return p == MAP_FAILED ? NULL : p;
}

int ncclCommInitRankConfig(struct ncclComm **comm, int ranks, struct dg_nccl_id id, int rank,
    struct dg_nccl_config *config)
{
    *comm = NULL;
    if (config->magic != 0xcafebeef || config->version < DG_NCCL_LEAST || config->blocking != 0 ||
        config->size < 20 || ranks > RANKS || rank < 0 || rank >= ranks)
        return INVALID_ARGUMENT;
    struct ncclComm *c = calloc(1, sizeof *c);
    if (!c)
        return SYSTEM_ERROR;
    *comm = c;
    *c = (struct ncclComm){.rank = rank, .ranks = ranks, .id = id, .state = DG_NCCL_IN_PROGRESS};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    if (sscanf(mode(), "%15[a-z]:%u", c->mode, &c->fatal) < 2)
        c->fatal = 0;
    c->room = strcmp(mode(), "refuse") ? enter(id.bytes) : NULL;
    if (!c->room || pthread_create(&c->thread, NULL, work, c)) {
        shm_unlink(id.bytes);
        free(c);
        *comm = NULL;
        return SYSTEM_ERROR;
    }
    return DG_NCCL_IN_PROGRESS;
}

static void give(struct ncclComm *c, struct job j)
{
    pthread_mutex_lock(&c->lock);
    c->jobs[c->last++ % JOBS] = j;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

int ncclAllReduce(const void *send, void *receive, size_t n, int type, int op, struct ncclComm *c,
    cudaStream_t stream)
{
    const int state = __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
    if (send != receive || type != DG_NCCL_FLOAT32 || op != DG_NCCL_SUM || !stream || !n)
        return INVALID_ARGUMENT;
    if (state != DG_NCCL_SUCCESS)
        return state == DG_NCCL_IN_PROGRESS ? INVALID_USAGE : state;
    const bool first = c->last == 0;
    if (first)
        become(c, DG_NCCL_IN_PROGRESS);
    __atomic_add_fetch(&stream->given, 1, __ATOMIC_ACQ_REL);
    give(c, (struct job){receive, n, stream});
    return first ? DG_NCCL_IN_PROGRESS : DG_NCCL_SUCCESS;
}

int ncclCommGetAsyncError(struct ncclComm *c, int *state)
{
    *state = __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
    return DG_NCCL_SUCCESS;
}

int ncclCommFinalize(struct ncclComm *c)
{
    become(c, DG_NCCL_IN_PROGRESS);
    give(c, (struct job){0});
    return DG_NCCL_IN_PROGRESS;
}

int ncclCommDestroy(struct ncclComm *c)
{
    pthread_join(c->thread, NULL);
    munmap(c->room, sizeof *c->room);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
    return DG_NCCL_SUCCESS;
}

int ncclCommAbort(struct ncclComm *c)
{
    while (!strcmp(c->mode, "silent"))
        pause();
    pthread_mutex_lock(&c->lock);
    __atomic_store_n(&c->stop, true, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return ncclCommDestroy(c);
}

const char *ncclGetErrorString(int result)
{
    return result == REMOTE_ERROR       ? "remote process exited or there was a network error"
           : result == SYSTEM_ERROR     ? "unhandled system error"
           : result == INVALID_ARGUMENT ? "invalid argument"
           : result == INVALID_USAGE    ? "invalid usage"
                                        : "no error";
}

const char *ncclGetLastError(struct ncclComm *c)
{
    (void)c;
    return "";
}
