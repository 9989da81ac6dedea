#include "convert/int8.h"

#include "model/params.h"

#include <string.h>

/* True for the products of attention and for the first one of a feed-forward layer: rounding their
 * inputs is what changes answers (docs/cpu.md). The inputs of a feed-forward layer's second product
 * are half zeros. The output's product is the largest of all, and finer steps gain little there. */
static bool inputs_are_fine(const char *name)
{
    return strstr(name, ".self.") || strstr(name, ".cross.") || strstr(name, ".ffn.w1");
}

enum dg_quantize_as dg_convert_int8_choose(const struct dg_config *c, const char *name)
{
    for (size_t i = 0; i < dg_params_count(c); i++) {
        struct dg_param_info info;
        dg_params_info(c, i, &info);
        if (strcmp(info.name, name) != 0)
            continue;
        if (info.use & DG_USE_MATRIX)
            return inputs_are_fine(name) ? DG_QUANTIZE_FINE : DG_QUANTIZE_MATRIX;
        /* Learned positions are tables, too, but small, and added to everything. */
        bool embedding = info.offset == offsetof(struct dg_params, src_embed) ||
                         info.offset == offsetof(struct dg_params, tgt_embed);
        return embedding ? DG_QUANTIZE_TABLE : DG_QUANTIZE_NO;
    }
    return DG_QUANTIZE_NO;
}

static enum dg_quantize_as choose(void *arg, const char *name)
{
    return dg_convert_int8_choose(arg, name);
}

int dg_convert_int8(const char *from, const char *to, struct dg_error *err)
{
    struct dg_config config;
    int rc = dg_config_load(from, &config, err);
    const struct dg_quantize q = {.bundle = from, .out = to, .choose = choose, .arg = &config};
    return rc ? rc : dg_quantize_bundle(&q, err);
}
