/* Writes the answers of the feeder's items, and accounts for the text memory that they use. */
#include "server/request/feeder_internal.h"
#include "server/request/steps.h"

#define ANSWER_OVERHEAD 16 /* malloc's, per answer */

void dg_feeder_count(struct dg_feeder *f, struct dg_item *item)
{
    f->taken += item->taken - item->counted;
    item->counted = item->taken;
}

/* Accounts for an answer, which is kept until all others are there: it uses the memory that its
 * request has reserved, and a longer one takes more. DG_EAGAIN: other requests use the memory, and
 * the answer has been freed. Does nothing for lines. */
static int keep(struct dg_item *item, struct dg_error *err)
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

void dg_feeder_answer(struct dg_item *item, struct dg_error *err)
{
    struct dg_request *r = item->request;
    const struct dg_usage before = r->usage; /* the item's writer adds to it */
    if (dg_request_settle(item, err) == DG_OK && keep(item, err) == DG_OK) {
        r->answered += (int64_t)item->characters;
    } else {
        r->usage = before;
        r->kind->write_error(item, err);
    }
}
