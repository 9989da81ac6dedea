/* Ranks over MPI: the only file that uses it. A plugin, see trainer/update/ranks.h. */
#include "trainer/update/ranks.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct mpi {
    /* our own communicator, so that errors are returned and do not end the process */
    MPI_Comm comm;
    int rank, ranks;
    /* [ranks] size and position of the part that each rank adds up */
    int *counts, *offsets;
    /* [cap] this rank's part */
    float *part;
    size_t cap;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
};

int dg_ranks_mpi_open(struct dg_ranks *out, struct dg_error *err);

/* Own copy of dg_error_set, as the plugin links none of our code. */
static int fail(struct dg_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(struct dg_error *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    err->code = code;
    return code;
}

static int check(int status, const char *what, struct dg_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;
    if (status == MPI_SUCCESS)
        return 0;
    MPI_Error_string(status, text, &n);
    return fail(err, DG_EIO, "%s between ranks: %s", what, text);
}

static int fit(struct mpi *m, size_t n, struct dg_error *err)
{
    size_t each = n / (size_t)m->ranks, rest = n % (size_t)m->ranks, at = 0;
    for (int i = 0; i < m->ranks; i++) {
        m->counts[i] = (int)(each + ((size_t)i < rest));
        m->offsets[i] = (int)at;
        at += (size_t)m->counts[i];
    }
    if (each + 1 <= m->cap)
        return 0;
    free(m->part);
    m->cap = each + 1;
    m->part = malloc(m->cap * sizeof *m->part);
    if (m->part)
        return 0;
    m->cap = 0;
    return fail(err, DG_ENOMEM, "no memory for %zu gradients", each + 1);
}

/* Each element is summed on one rank and then sent to all, so all ranks get the same bits in
 * whatever order the library adds. */
static int sum_piece(struct mpi *m, float *x, size_t n, struct dg_error *err)
{
    int rc = fit(m, n, err);
    if (!rc)
        rc = check(MPI_Reduce_scatter(x, m->part, m->counts, MPI_FLOAT, MPI_SUM, m->comm),
            "adding gradients", err);
    if (!rc)
        rc = check(MPI_Allgatherv(m->part, m->counts[m->rank], MPI_FLOAT, x, m->counts, m->offsets,
                       MPI_FLOAT, m->comm),
            "sharing gradients", err);
    return rc;
}

static int sum(void *ctx, float *x, size_t n, struct dg_error *err)
{
    const size_t most = (size_t)1 << 30; /* MPI counts in int */
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i += most)
        rc = sum_piece(ctx, x + i, n - i < most ? n - i : most, err);
    return rc;
}

static int sum_doubles(void *ctx, double *x, size_t n, struct dg_error *err)
{
    struct mpi *m = ctx;
    double *all = malloc(n * sizeof *all);
    if (!all)
        return fail(err, DG_ENOMEM, "no memory for %zu sums", n);
    /* Summed on rank 0 and broadcast, so all ranks get the same bits. */
    int rc = check(MPI_Reduce(x, all, (int)n, MPI_DOUBLE, MPI_SUM, 0, m->comm), "adding sums", err);
    if (!rc && m->rank == 0)
        memcpy(x, all, n * sizeof *x);
    if (!rc)
        rc = check(MPI_Bcast(x, (int)n, MPI_DOUBLE, 0, m->comm), "sharing sums", err);
    free(all);
    return rc;
}

/* Sleeps between polls: MPI's own waiting occupies a core, which the late rank may need. */
static int meet(void *ctx, struct dg_error *err)
{
    struct mpi *m = ctx;
    MPI_Request request;
    int there = 0;
    int rc = check(MPI_Ibarrier(m->comm, &request), "meeting", err);
    for (long us = 0; !rc && !there; us = us < 1000 ? us + 20 : us) {
        struct timespec nap = {0, us * 1000};
        rc = check(MPI_Test(&request, &there, MPI_STATUS_IGNORE), "meeting", err);
        if (!there)
            nanosleep(&nap, NULL);
    }
    return rc;
}

static void free_mpi(struct mpi *m)
{
    free(m->counts);
    free(m->offsets);
    free(m->part);
    free(m);
}

static void close_mpi(void *ctx)
{
    struct mpi *m = ctx;
    MPI_Comm_free(&m->comm);
    MPI_Finalize();
    free_mpi(m);
}

static void abort_mpi(void *ctx, int code)
{
    struct mpi *m = ctx;
    MPI_Abort(m->comm, code);
    abort();
}

int dg_ranks_mpi_open(struct dg_ranks *out, struct dg_error *err)
{
    int level, n;
    /* One thread at a time calls MPI, but not always the same one. */
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return fail(err, DG_EIO, "MPI does not start");
    if (level < MPI_THREAD_SERIALIZED)
        return fail(err, DG_EUNSUP, "this MPI can be called by the main thread only");
    struct mpi *m = calloc(1, sizeof *m);
    if (!m)
        return fail(err, DG_ENOMEM, "no memory for ranks");
    MPI_Comm_dup(MPI_COMM_WORLD, &m->comm);
    MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(m->comm, &m->rank);
    MPI_Comm_size(m->comm, &m->ranks);
    MPI_Get_library_version(m->version, &n);
    m->version[strcspn(m->version, ",\n")] = '\0';
    m->counts = calloc((size_t)m->ranks, sizeof *m->counts);
    m->offsets = calloc((size_t)m->ranks, sizeof *m->offsets);
    if (!m->counts || !m->offsets) {
        free_mpi(m);
        return fail(err, DG_ENOMEM, "no memory for ranks");
    }
    *out = (struct dg_ranks){.ctx = m,
        .rank = (size_t)m->rank,
        .ranks = (size_t)m->ranks,
        .what = m->version,
        .sum = sum,
        .sum_doubles = sum_doubles,
        .meet = meet,
        .close = close_mpi,
        .abort = abort_mpi};
    return 0;
}
