#include "server/models/describe.h"

#include "base/buffer.h"
#include "base/file.h"
#include "model/params.h"
#include "server/models/listing.h"
#include "server/models/models.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds a model's architecture, size, type, devices and licence. */
static void describe_model(
    struct dg_json *o, const struct dg_listing *l, const struct dg_served *open)
{
    const struct dg_bundle *b = l->bundle;
    const struct dg_config *c = &l->config;
    char architecture[96];
    struct dg_buffer devices;
    dg_buffer_init(&devices);
    if (open)
        dg_served_devices(open, &devices);
    snprintf(architecture, sizeof architecture,
        "transformer, %u+%u layers, d_model %u, d_ff %u, %u heads%s%s", c->enc_layers,
        c->dec_layers, c->D, c->F, c->H, c->decoder == DG_DECODER_SSRU ? ", SSRU decoder" : "",
        c->pre_norm ? ", pre-norm" : "");
    dg_json_set_string(o, "architecture", architecture);
    dg_json_set_int(o, "parameters", (int64_t)dg_params_elements(c));
    dg_json_set_string(o, "type", dg_bundle_type(b));
    if (open)
        dg_json_set_string(o, "device", devices.failed || !devices.data ? "" : devices.data);
    dg_json_set_bool(o, "open", open != NULL);
    dg_json_set_int(o, "bytes", (int64_t)dg_bundle_weights_bytes(b));
    if (dg_bundle_licence(b))
        dg_json_set_string(o, "licence", dg_bundle_licence(b));
    dg_json_set_bool(o, "non_commercial", dg_bundle_is_non_commercial(b));
    dg_buffer_deinit(&devices);
}

static struct dg_json *describe_pair(
    const struct dg_listing *l, const struct dg_served *open, size_t i)
{
    const struct dg_bundle *b = l->bundle;
    const char *source, *target;
    dg_bundle_pair(b, i, &source, &target);
    struct dg_json *o = dg_json_new_object();
    dg_json_set_string(o, "name", dg_bundle_name(b));
    dg_json_set_string(o, "version", dg_bundle_version(b));
    dg_json_set_string(o, "source", source);
    dg_json_set_string(o, "target", target);
    describe_model(o, l, open);
    return o;
}

struct dg_json *dg_models_describe(struct dg_models *m)
{
    struct dg_listing *list[DG_MODELS_MAX];
    struct dg_served *open[DG_MODELS_MAX];
    struct dg_json *array = dg_json_new_array();
    const size_t n = dg_models_listings(m, list, open);
    for (size_t i = 0; i < n; i++) {
        for (size_t p = 0; p < dg_bundle_pairs(list[i]->bundle); p++)
            dg_json_append_take(array, describe_pair(list[i], open[i], p));
        dg_served_unref(open[i]);
        dg_listing_unref(list[i]);
    }
    return array;
}

static struct dg_json *list_pairs(const struct dg_bundle *b)
{
    struct dg_json *pairs = dg_json_new_array();
    for (size_t i = 0; i < dg_bundle_pairs(b); i++) {
        const char *source, *target;
        dg_bundle_pair(b, i, &source, &target);
        struct dg_json *pair = dg_json_new_object();
        dg_json_set_string(pair, "source", source);
        dg_json_set_string(pair, "target", target);
        dg_json_append_take(pairs, pair);
    }
    return pairs;
}

static void copy_string(struct dg_json *o, const char *key, const struct dg_json *from)
{
    const char *s = dg_json_string(dg_json_get(from, key), NULL);
    if (s)
        dg_json_set_string(o, key, s);
}

/* What the manifest says about where the model comes from: pull writes "origin", the trainer and
 * the converters "training". */
static struct dg_json *describe_origin(const struct dg_json *manifest)
{
    const struct dg_json *training = dg_json_get(manifest, "training");
    struct dg_json *o = dg_json_new_object();
    copy_string(o, "source", dg_json_get(manifest, "origin"));
    copy_string(o, "converted_from", training);
    copy_string(o, "name_or_path", training);
    copy_string(o, "program", training);
    copy_string(o, "date", training);
    copy_string(o, "begun_from", training);
    return o;
}

/* Reads MODEL_CARD.md, which is beside the manifest, as UTF-8; the buffer is empty if there is
 * none. */
static void read_card(const struct dg_bundle *b, struct dg_buffer *card)
{
    char *path = dg_file_join(dg_bundle_dir(b), "MODEL_CARD.md");
    if (path && dg_file_read(path, card, NULL) != DG_OK)
        card->len = 0;
    if (card->len > DG_MODEL_CARD_BYTES)
        card->len = DG_MODEL_CARD_BYTES;
    if (card->data) {
        card->data[card->len] = '\0';
        dg_utf8_mend(card->data);
    }
    free(path);
}

static struct dg_json *describe_card(const struct dg_listing *l, const struct dg_served *open)
{
    const struct dg_bundle *b = l->bundle;
    const struct dg_json *manifest = dg_bundle_manifest(b);
    const struct dg_json *scores = dg_json_get(dg_json_get(manifest, "training"), "scores");
    struct dg_json *o = dg_json_new_object();
    struct dg_buffer card;
    dg_buffer_init(&card);
    dg_json_set_string(o, "name", dg_bundle_name(b));
    dg_json_set_string(o, "version", dg_bundle_version(b));
    copy_string(o, "description", manifest);
    dg_json_set_take(o, "pairs", list_pairs(b));
    describe_model(o, l, open);
    dg_json_set_take(o, "origin", describe_origin(manifest));
    if (dg_json_length(scores) > 0)
        dg_json_set_take(o, "scores", dg_json_copy(scores));
    read_card(b, &card);
    if (card.len > 0)
        dg_json_set_string(o, "card", card.data);
    dg_buffer_deinit(&card);
    return o;
}

bool dg_models_card(struct dg_models *m, const char *version, struct dg_json **out)
{
    struct dg_listing *list[DG_MODELS_MAX];
    struct dg_served *open[DG_MODELS_MAX];
    const size_t n = dg_models_listings(m, list, open);
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        if (!found && strcmp(dg_bundle_version(list[i]->bundle), version) == 0) {
            *out = describe_card(list[i], open[i]);
            found = true;
        }
        dg_served_unref(open[i]);
        dg_listing_unref(list[i]);
    }
    return found;
}
