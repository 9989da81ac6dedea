/* The backend's two streams: one for steps and everything else, the other for encoder passes, so
 * that no step waits for them. A pass follows all that was submitted before it, because a step may
 * still write to slots that now belong to the pass. Steps that read the results of a pass wait for
 * its event, on the device. Each stream has its own staging and cuBLASLt workspace; memory is taken
 * and released in the order of the first stream, which each pass follows. */
#include "kernels/cuda/internal.h"

#include <assert.h>

void dg_cuda_use_lane(struct dg_cuda *cu, int lane)
{
    cu->lane = &cu->lanes[lane];
    cu->stream = cu->lane->stream;
}

int dg_cuda_lanes_open(struct dg_cuda *cu, struct dg_error *err)
{
    cudaError_t rc = (cudaError_t)dg_cuda_here(cu);
    for (int i = 0; i < DG_LANES && rc == cudaSuccess; i++) {
        rc = cudaStreamCreateWithFlags(&cu->lanes[i].stream, cudaStreamNonBlocking);
        if (rc == cudaSuccess)
            rc = (cudaError_t)dg_cuda_event(cu, &cu->lanes[i].done);
    }
    for (int i = 0; i < DG_SIDE_EVENTS && rc == cudaSuccess; i++)
        rc = (cudaError_t)dg_cuda_event(cu, &cu->side_events[i]);
    dg_cuda_use_lane(cu, DG_LANE_STEPS);
    return rc == cudaSuccess ? DG_OK : dg_cuda_unusable(cu->device, rc, err);
}

void dg_cuda_lanes_close(struct dg_cuda *cu)
{
    for (int i = DG_LANES; i-- > 0;) {
        dg_cuda_use_lane(cu, i);
        if (cu->lane->done)
            dg_cuda_wait(cu);
        dg_cuda_stage_close(cu);
        if (cu->lane->done)
            cudaEventDestroy(cu->lane->done);
        if (cu->lane->stream)
            cudaStreamDestroy(cu->lane->stream);
    }
    for (int i = 0; i < DG_SIDE_EVENTS; i++)
        if (cu->side_events[i])
            cudaEventDestroy(cu->side_events[i]);
}

static void follow(struct dg_cuda *cu, int lane, cudaEvent_t event)
{
    if (dg_cuda_alive(cu))
        dg_cuda_ok(cu, cudaStreamWaitEvent(cu->lanes[lane].stream, event, 0), "ordering streams");
}

void dg_cuda_side_begin(struct dg_backend *be)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    assert(cu->lane == &cu->lanes[DG_LANE_STEPS] && !cu->step);
    if (dg_cuda_alive(cu))
        dg_cuda_ok(cu, cudaEventRecord(cu->lane->done, cu->stream), "an event before a pass");
    follow(cu, DG_LANE_SIDE, cu->lane->done);
    dg_cuda_use_lane(cu, DG_LANE_SIDE);
}

uint32_t dg_cuda_side_end(struct dg_backend *be)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    assert(cu->lane == &cu->lanes[DG_LANE_SIDE]);
    cu->sides++;
    if (dg_cuda_alive(cu))
        dg_cuda_ok(cu, cudaEventRecord(cu->side_events[cu->sides % DG_SIDE_EVENTS], cu->stream),
            "an event after a pass");
    dg_cuda_use_lane(cu, DG_LANE_STEPS);
    return cu->sides;
}

/* If the event was recorded again since, for a later pass, it is reached later, but never too
 * early. */
bool dg_cuda_side_done(struct dg_backend *be, uint32_t number)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    return !dg_cuda_alive(cu) ||
           dg_cuda_passed(cu, cu->side_events[number % DG_SIDE_EVENTS], "asking for a pass");
}

void dg_cuda_side_join(struct dg_backend *be, uint32_t number)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    follow(cu, DG_LANE_STEPS, cu->side_events[number % DG_SIDE_EVENTS]);
}
