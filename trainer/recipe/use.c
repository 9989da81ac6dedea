/* Uses of a loaded recipe: printing, comparing, making a model's configuration. */
#include "trainer/recipe/internal.h"

#include "base/alloc.h"

#include <stdio.h>

int dg_recipe_print(const struct dg_recipe *r, struct dg_buffer *out)
{
    return dg_json_write(r->json, 2, out);
}

int dg_recipe_config(const struct dg_recipe *r, uint32_t source_vocab, uint32_t target_vocab,
    int32_t eos, int32_t unk, struct dg_config *out, struct dg_error *err)
{
    *out = r->model;
    out->source_vocab = source_vocab;
    out->target_vocab = target_vocab;
    out->eos = eos;
    out->unk = unk;
    out->start = r->decoder_start == DG_START_EOS ? eos : -1;
    if (out->tied_embeddings && source_vocab != target_vocab)
        return dg_error_field(err, DG_EINVAL, "model.tied_embeddings",
            "model.tied_embeddings needs one vocabulary, not one of %u and one of %u pieces",
            source_vocab, target_vocab);
    return dg_config_check(out, err);
}

static void add_value(const struct dg_json *v, struct dg_buffer *out)
{
    if (v)
        dg_json_write(v, 0, out);
    else
        dg_buffer_adds(out, "absent");
}

/* Compares members of `now` with those of `was`; with `absent` only those that `was` lacks. */
static size_t differ(const struct dg_json *now, const struct dg_json *was, const char *where,
    bool resume, bool absent, struct dg_buffer *out)
{
    size_t n = 0;
    for (const char *key = dg_json_next_key(now, NULL); key; key = dg_json_next_key(now, key)) {
        const struct dg_json *a = dg_json_get(now, key), *b = dg_json_get(was, key);
        char name[256];
        snprintf(name, sizeof name, "%s%s%s", where, where[0] ? "." : "", key);
        bool objects =
            dg_json_typeof(a) == DG_JSON_OBJECT && b && dg_json_typeof(b) == DG_JSON_OBJECT;
        if (objects) {
            n += differ(a, b, name, resume, absent, out);
            continue;
        }
        if ((absent && b) || (resume && dg_recipe_field_resumable(name)) || dg_json_same(a, b))
            continue;
        dg_buffer_addf(out, "%s: ", name);
        add_value(absent ? NULL : a, out);
        dg_buffer_adds(out, ", was ");
        add_value(absent ? a : b, out);
        dg_buffer_adds(out, "\n");
        n++;
    }
    return n;
}

size_t dg_recipe_difference(
    const struct dg_json *now, const struct dg_json *was, bool resume, struct dg_buffer *out)
{
    return differ(now, was, "", resume, false, out) + differ(was, now, "", resume, true, out);
}

char *dg_recipe_path(const struct dg_recipe *r, const char *path)
{
    const bool relative = path[0] != '/' && r->data_dir[0];
    return relative ? dg_alloc_path(r->data_dir, path) : dg_alloc_string(path);
}
