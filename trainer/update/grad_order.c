#include "trainer/update/grad_order.h"

#include "base/alloc.h"
#include "model/param_block.h"

#include <stdlib.h>

static size_t group_of(const struct dg_config *c, size_t offset)
{
    const size_t enc = offsetof(struct dg_params, enc), dec = offsetof(struct dg_params, dec);
    if (offset >= dec && offset < dec + c->dec_layers * sizeof(struct dg_dec_params))
        return c->dec_layers - 1 - (offset - dec) / sizeof(struct dg_dec_params);
    if (offset >= enc && offset < enc + c->enc_layers * sizeof(struct dg_enc_params))
        return c->dec_layers + c->enc_layers - 1 - (offset - enc) / sizeof(struct dg_enc_params);
    return c->dec_layers + c->enc_layers;
}

/* Adjacent tensors of the same group become one range. */
void dg_grad_order_init(struct dg_grad_order *s, const struct dg_config *c)
{
    const size_t tensors = dg_params_count(c);
    *s = (struct dg_grad_order){.n_groups = c->dec_layers + c->enc_layers + 1,
        .list = dg_alloc(tensors, sizeof *s->list, "the order of gradients")};
    for (size_t g = 0; g < s->n_groups; g++) {
        for (size_t i = 0; i < tensors; i++) {
            struct dg_param_info info;
            dg_params_info(c, i, &info);
            if (group_of(c, info.offset) != g)
                continue;
            const size_t begin = dg_param_block_offset(c, i), end = dg_param_block_offset(c, i + 1);
            struct dg_grad_range *last = s->n ? &s->list[s->n - 1] : NULL;
            if (last && last->group == g && last->end == begin)
                last->end = end;
            else
                s->list[s->n++] = (struct dg_grad_range){g, begin, end};
        }
    }
}

void dg_grad_order_deinit(struct dg_grad_order *s)
{
    free(s->list);
    *s = (struct dg_grad_order){0};
}

size_t dg_grad_order_after(const struct dg_config *c, int side, uint32_t layer)
{
    return side ? c->dec_layers - layer : c->dec_layers + c->enc_layers - layer;
}
