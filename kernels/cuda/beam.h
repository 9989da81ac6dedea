/* The search that the device keeps (beam.c) and its recorded steps (graph.c). Only
 * kernels/cuda includes this. One thread at a time per backend, as backend.h says. */
#ifndef DG_KERNELS_CUDA_BEAM_H
#define DG_KERNELS_CUDA_BEAM_H

#include "kernels/cuda/internal.h"

enum { DG_GRAPHS_MAX = 48 };

/* Steps of M rows: run once, recorded the second time, repeated from then on. exec NULL: not
 * recorded yet. */
struct dg_step_graph {
    uint32_t M;
    cudaGraphExec_t exec;
};

/* One of two steps in flight. sent: pinned [sent_bytes + found_bytes]; the second part is what
 * comes back. */
struct dg_step_buffers {
    unsigned char *sent;
    cudaEvent_t arrived;
};

struct dg_device_search {
    struct dg_device_search_limits most;
    struct dg_k_device_search k;
    /* device: all that k points to; pinned: both buffers */
    unsigned char *device, *pinned;
    /* sent_bytes: from k.step on; found_bytes: from k.parents on */
    size_t sent_bytes, found_bytes;
    /* topk's scratch, [dg_topk_parts()] bytes: graphs hold its address */
    void *topk_parts;
    struct dg_step_buffers buffers[2];
    uint64_t given, waited;
    /* rows of the open step, padded; the graph that it is recorded in or repeated from, NULL:
     * none */
    uint32_t M;
    struct dg_step_graph *record;
    /* refusals: dg_cuda.gemm_refusals when the graphs were made */
    struct dg_step_graph graphs[DG_GRAPHS_MAX];
    uint32_t n_graphs;
    unsigned refusals;
};

extern const struct dg_device_search_ops dg_cuda_device_search_ops;

/* True: run the ops, which records them if it is time to. False: a recording will be repeated
 * instead. */
bool dg_graph_begin(struct dg_cuda *cu, struct dg_device_search *t);
/* Call after the ops: closes the recording, if there is one, and runs it. False: that failed,
 * nothing of the step has run, and steps are no longer recorded. */
bool dg_graph_end(struct dg_cuda *cu, struct dg_device_search *t);
void dg_graphs_close(struct dg_device_search *t);

#endif
