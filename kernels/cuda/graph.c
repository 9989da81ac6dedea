/* Steps recorded as CUDA graphs, one for each number of rows: a step's 70 launches become one. The
 * first step with a number of rows runs unrecorded, because the library chooses its algorithms and
 * the driver loads kernels then; the second is recorded, and run from the recording. If the driver
 * refuses, nothing is lost: the step's ops are run again, and no further step is recorded. The
 * copies to and from the device stay outside, because their host addresses change from step to
 * step. */
#include "base/log.h"
#include "kernels/cuda/beam.h"

/* NULL: these are the first steps of M rows, or there are too many numbers of rows. */
static struct dg_step_graph *find(struct dg_device_search *t, uint32_t M)
{
    for (uint32_t i = 0; i < t->n_graphs; i++)
        if (t->graphs[i].M == M)
            return &t->graphs[i];
    if (t->n_graphs < DG_GRAPHS_MAX)
        t->graphs[t->n_graphs++] = (struct dg_step_graph){.M = M};
    return NULL;
}

/* Stop recording: recording a step, or running a recording, has failed, and nothing of the step was
 * run. If the device itself has failed, the next launch reports it. */
static bool give_up(struct dg_cuda *cu, cudaError_t why, const char *what)
{
    cudaGetLastError();
    dg_log(DG_LOG_WARN,
        "cuda_graphs_off msg=\"%s a step as a CUDA graph failed: steps are launched op by op\" "
        "device=%s error=%s",
        what, cu->name, cudaGetErrorName(why));
    cu->graphs = false;
    return false;
}

bool dg_graph_begin(struct dg_cuda *cu, struct dg_device_search *t)
{
    if (t->refusals != cu->gemm_refusals) /* recorded steps use algorithms refused since */
        dg_graphs_close(t);
    t->refusals = cu->gemm_refusals;
    t->record = cu->graphs ? find(t, t->M) : NULL;
    if (!t->record)
        return true;
    if (t->record->exec)
        return false;
    const cudaError_t rc = cudaStreamBeginCapture(cu->stream, cudaStreamCaptureModeRelaxed);
    if (rc != cudaSuccess) {
        t->record = NULL;
        give_up(cu, rc, "beginning to record");
    }
    return true;
}

/* Close the recording of the open step and make it ready to run. */
static bool close_recording(struct dg_cuda *cu, struct dg_step_graph *r)
{
    cudaGraph_t graph = NULL;
    cudaError_t rc = cudaStreamEndCapture(cu->stream, &graph);
    if (rc != cudaSuccess)
        return give_up(cu, rc, "recording");
    rc = cudaGraphInstantiate(&r->exec, graph, 0);
    cudaGraphDestroy(graph);
    if (rc == cudaSuccess)
        return true;
    r->exec = NULL;
    return give_up(cu, rc, "making ready");
}

bool dg_graph_end(struct dg_cuda *cu, struct dg_device_search *t)
{
    struct dg_step_graph *r = t->record;
    if (!r || !dg_cuda_alive(cu))
        return true;
    if (!r->exec && !close_recording(cu, r))
        return false;
    const cudaError_t rc = cudaGraphLaunch(r->exec, cu->stream);
    return rc == cudaSuccess || give_up(cu, rc, "repeating");
}

void dg_graphs_close(struct dg_device_search *t)
{
    for (uint32_t i = 0; i < t->n_graphs; i++)
        if (t->graphs[i].exec)
            cudaGraphExecDestroy(t->graphs[i].exec);
    t->n_graphs = 0;
}
