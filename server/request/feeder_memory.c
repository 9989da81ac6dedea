/* Accounts for the text memory that the feeder's items use. */
#include "server/request/feeder_internal.h"
#include "server/request/steps.h"

#define ANSWER_OVERHEAD 16 /* malloc's, per answer */

void dg_feeder_count(struct dg_feeder *f, struct dg_item *item)
{
    f->taken += item->taken - item->counted;
    item->counted = item->taken;
}

int dg_feeder_keep(struct dg_item *item, struct dg_error *err)
{
    struct dg_request *r = item->request;
    if (r->shape == DG_SHAPE_LINES)
        return DG_OK;
    dg_buffer_fit(&item->answer);
    const size_t n = item->answer.cap + ANSWER_OVERHEAD;
    const size_t more = n > r->reserved ? n - r->reserved : 0;
    if (more > 0 && dg_request_take(r, more, err) != DG_OK) {
        dg_buffer_deinit(&item->answer);
        return err->code;
    }
    r->reserved -= n - more;
    return DG_OK;
}
