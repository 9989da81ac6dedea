/* Steps recorded as CUDA graphs, one for each number of rows: a step's 70 launches become one. The
 * first step of so many rows runs as it is, because the library chooses its algorithms and the
 * driver loads kernels then; the second is recorded, and run from the recording. What is sent to
 * the device and what comes back stays outside, for its places change from step to step. */
#include "kernels/cuda/step.h"

static struct dg_record *find(struct dg_device_search *t, uint32_t M)
{
    for (uint32_t i = 0; i < t->n_records; i++)
        if (t->records[i].M == M)
            return &t->records[i];
    if (t->n_records == DG_RECORDS_MAX)
        return NULL;
    t->records[t->n_records] = (struct dg_record){.M = M};
    return &t->records[t->n_records++];
}

static bool ok(struct dg_cuda *cu, int cuda_error, const char *what)
{
    struct dg_error err = {0};
    if (cuda_error == cudaSuccess)
        return true;
    cudaGetLastError();
    dg_error_set(&err, DG_EINTERNAL,
        "%s a step as a CUDA graph failed: %s (%s); DRAGOMAN_CUDA_STEP=device does without", what,
        cudaGetErrorString((cudaError_t)cuda_error), cudaGetErrorName((cudaError_t)cuda_error));
    dg_cuda_fail(cu, &err);
    return false;
}

bool dg_record_begin(struct dg_cuda *cu, struct dg_device_search *t)
{
    t->recording = false;
    t->record = cu->step_mode == DG_STEP_GRAPH ? find(t, t->M) : NULL;
    if (!t->record || !t->record->seen)
        return true;
    if (t->record->exec)
        return false;
    t->recording = ok(cu, cudaStreamBeginCapture(cu->stream, cudaStreamCaptureModeRelaxed),
        "beginning to record");
    return t->recording;
}

void dg_record_end(struct dg_cuda *cu, struct dg_device_search *t)
{
    struct dg_record *r = t->record;
    cudaGraph_t graph = NULL;
    if (!r)
        return;
    r->seen = true;
    if (t->recording && ok(cu, cudaStreamEndCapture(cu->stream, &graph), "recording"))
        ok(cu, cudaGraphInstantiate(&r->exec, graph, 0), "making ready");
    t->recording = false;
    if (graph)
        cudaGraphDestroy(graph);
    if (r->exec && dg_cuda_alive(cu))
        ok(cu, cudaGraphLaunch(r->exec, cu->stream), "repeating");
}

void dg_records_close(struct dg_device_search *t)
{
    for (uint32_t i = 0; i < t->n_records; i++)
        if (t->records[i].exec)
            cudaGraphExecDestroy(t->records[i].exec);
    t->n_records = 0;
}
