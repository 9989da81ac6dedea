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
    bool seen;
    cudaGraphExec_t exec;
};

/* One of two steps on their way. sent, pinned: [sent_bytes + found_bytes], the latter comes back.
 */
struct dg_step_buffers {
    unsigned char *sent;
    cudaEvent_t arrived;
    uint32_t n_rows, stride;
};

struct dg_device_search {
    struct dg_device_search_limits most;
    struct dg_k_device_search k;
    /* all that k points to; both buffers */
    unsigned char *device, *pinned;
    /* from k.step on; from k.parents on */
    size_t sent_bytes, found_bytes;
    /* [dg_topk_parts()] bytes, topk's scratch: graphs keep its place */
    void *topk_parts;
    struct dg_step_buffers buffers[2];
    uint64_t given, waited;
    /* rows of the open step, padded; its recording, NULL: steps are not recorded */
    uint32_t M;
    struct dg_step_graph *record;
    bool recording;
    /* products: dg_cuda.gemm_refusals when they were made */
    struct dg_step_graph graphs[DG_GRAPHS_MAX];
    uint32_t n_graphs;
    unsigned products;
};

extern const struct dg_device_search_ops dg_cuda_device_search_ops;

/* True: run the ops, which may be recorded by that. False: a recording will be repeated. */
bool dg_graph_begin(struct dg_cuda *cu, struct dg_device_search *t);
/* After the ops: the recording, if there is one, is closed and run. False: that failed, nothing of
 * the step has been run, and steps are not recorded any more. */
bool dg_graph_end(struct dg_cuda *cu, struct dg_device_search *t);
void dg_graphs_close(struct dg_device_search *t);

#endif
