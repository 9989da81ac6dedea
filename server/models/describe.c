#include "server/models/describe.h"

#include "server/models/models.h"

#include <stdio.h>

static struct dg_json *describe_pair(const struct dg_served *s, size_t i)
{
    const struct dg_bundle *b = dg_translator_bundle(s->translator);
    const struct dg_config *c = dg_model_config(dg_translator_model(s->translator));
    const char *source, *target;
    char architecture[96];
    struct dg_buffer devices;
    dg_buffer_init(&devices);
    dg_served_devices(s, &devices);
    dg_bundle_pair(b, i, &source, &target);
    snprintf(architecture, sizeof architecture,
        "transformer, %u+%u layers, d_model %u, d_ff %u, %u heads%s%s", c->enc_layers,
        c->dec_layers, c->D, c->F, c->H, c->decoder == DG_DECODER_SSRU ? ", SSRU decoder" : "",
        c->pre_norm ? ", pre-norm" : "");
    struct dg_json *o = dg_json_new_object();
    dg_json_set_string(o, "name", dg_bundle_name(b));
    dg_json_set_string(o, "version", dg_bundle_version(b));
    dg_json_set_string(o, "source", source);
    dg_json_set_string(o, "target", target);
    dg_json_set_string(o, "architecture", architecture);
    dg_json_set_int(o, "parameters", (int64_t)dg_config_parameters(c));
    dg_json_set_string(o, "type", dg_served_type(s));
    dg_json_set_string(o, "device", devices.failed ? "" : devices.data);
    if (dg_bundle_licence(b))
        dg_json_set_string(o, "licence", dg_bundle_licence(b));
    dg_buffer_deinit(&devices);
    return o;
}

struct dg_json *dg_models_describe(struct dg_models *m)
{
    struct dg_served *list[DG_MODELS_MAX];
    struct dg_json *array = dg_json_new_array();
    size_t n = dg_models_list(m, list, DG_MODELS_MAX);
    for (size_t i = 0; i < n; i++) {
        size_t pairs = dg_bundle_pairs(dg_translator_bundle(list[i]->translator));
        for (size_t p = 0; p < pairs; p++)
            dg_json_append_take(array, describe_pair(list[i], p));
        dg_served_unref(list[i]);
    }
    return array;
}
