#include "trainer/data/batches.h"

#include "base/alloc.h"
#include "base/json.h"

#include <stdlib.h>

/* One side of a sentence as a JSON array. */
static struct dg_json *ids_json(const int32_t *ids, uint32_t n)
{
    struct dg_json *list = dg_json_new_array();
    for (uint32_t i = 0; i < n; i++)
        dg_json_append_take(list, dg_json_new_int(ids[i]));
    return list;
}

static int print_batch(
    const struct dg_dataset *d, const struct dg_batch *b, FILE *out, struct dg_error *err)
{
    struct dg_json *o = dg_json_new_object(), *source = dg_json_new_array(),
                   *target = dg_json_new_array();
    int32_t *ids = dg_alloc((size_t)b->max_source + b->max_target, sizeof *ids, "a batch");
    struct dg_buffer text;
    dg_buffer_init(&text);
    for (size_t i = 0; i < b->count; i++) {
        uint32_t s, t;
        dg_dataset_lengths(d, b->sentences[i], &s, &t);
        dg_dataset_ids(d, b->sentences[i], ids, ids + s);
        dg_json_append_take(source, ids_json(ids, s));
        dg_json_append_take(target, ids_json(ids + s, t));
    }
    dg_json_set_take(o, "source", source);
    dg_json_set_take(o, "target", target);
    int rc = dg_json_write(o, 0, &text) || text.failed
                 ? dg_error_set(err, DG_ENOMEM, "no memory for a batch")
                 : 0;
    if (!rc)
        fprintf(out, "%s\n", text.data);
    free(ids);
    dg_json_free(o);
    dg_buffer_deinit(&text);
    return rc;
}

int dg_batches_print(struct dg_dataset *d, FILE *out, struct dg_error *err)
{
    struct dg_batch b;
    int rc = dg_dataset_next(d, &b, err);
    return rc ? rc : print_batch(d, &b, out, err);
}
