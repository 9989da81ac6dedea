#include "server/api/request_batch.h"

#include "server/api/request_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A string that is not too long, or an integer. Whether two items have the same id is the client's
 * affair: answers carry the item's position, too. */
static int read_id(
    const struct dg_json *o, const char *where, const struct dg_json **out, struct dg_error *err)
{
    char name[64];
    size_t len;
    const struct dg_json *id = dg_json_get(o, "id");
    enum dg_json_type type = dg_json_typeof(id);
    if (!id || type == DG_JSON_INT) {
        *out = id;
        return DG_OK;
    }
    snprintf(name, sizeof name, "%s.id", where);
    if (type != DG_JSON_STRING)
        return dg_error_field(err, DG_EINVAL, name, "%s must be a string or an integer, not %s",
            name, dg_json_type_name(type));
    dg_json_string(id, &len);
    if (len > DG_BATCH_ID_MAX)
        return dg_error_field(
            err, DG_ELIMIT, name, "%s has %zu bytes, the limit is %d", name, len, DG_BATCH_ID_MAX);
    *out = id;
    return DG_OK;
}

static int read_item(const struct dg_json *o, const char *where,
    const struct dg_request_limits *limits, struct dg_batch_item *out, struct dg_error *err)
{
    static const char *const allowed[] = {
        "id", "text", "source", "target", DG_REQUEST_OPTIONS, NULL};
    if (dg_json_typeof(o) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EINVAL, where, "%s must be an object, not %s", where,
            dg_json_type_name(dg_json_typeof(o)));
    int rc = read_id(o, where, &out->id, err);
    if (rc == DG_OK)
        rc = dg_json_only(o, where, allowed, err);
    if (rc == DG_OK)
        rc = dg_request_text(o, where, "text", &out->text, err);
    if (rc == DG_OK)
        rc = dg_request_code(o, where, "source", &out->source, err);
    if (rc == DG_OK)
        rc = dg_request_code(o, where, "target", &out->target, err);
    if (rc == DG_OK)
        rc = dg_request_options_read(o, where, limits, &out->options, err);
    size_t characters = rc == DG_OK ? dg_request_characters(&out->text) : 0;
    if (characters > limits->characters) {
        char name[64];
        snprintf(name, sizeof name, "%s.text", where);
        rc = dg_error_field(err, DG_ELIMIT, name,
            "%s has %zu characters, the limit of one item is %zu", name, characters,
            limits->characters);
    }
    return rc;
}

/* The item's own error is kept with it; only memory can fail for all. */
static int take_item(const struct dg_json *o, size_t i, const struct dg_request_limits *limits,
    struct dg_batch_item *out, struct dg_error *err)
{
    char where[32];
    struct dg_error why = {0};
    snprintf(where, sizeof where, "items[%zu]", i);
    if (read_item(o, where, limits, out, &why) == DG_OK)
        return DG_OK;
    out->error = malloc(sizeof *out->error);
    if (!out->error)
        return dg_error_set(err, DG_ENOMEM, "no memory for the batch");
    *out->error = why;
    return DG_OK;
}

static int read_items(const struct dg_json *root, const struct dg_batch_limits *limits,
    struct dg_v1_batch *out, struct dg_error *err)
{
    const struct dg_json *list = dg_json_get(root, "items");
    size_t n = dg_json_length(list), characters = 0;
    if (!list)
        return dg_error_field(err, DG_EINVAL, "items", "items is missing");
    if (dg_json_typeof(list) != DG_JSON_ARRAY)
        return dg_error_field(err, DG_EINVAL, "items", "items must be an array, not %s",
            dg_json_type_name(dg_json_typeof(list)));
    if (n == 0)
        return dg_error_field(err, DG_EINVAL, "items", "items is an empty array");
    if (n > limits->items)
        return dg_error_field(
            err, DG_ELIMIT, "items", "the batch has %zu items, the limit is %zu", n, limits->items);
    out->items = calloc(n, sizeof *out->items);
    if (!out->items)
        return dg_error_set(err, DG_ENOMEM, "no memory for a batch of %zu items", n);
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        int rc = take_item(dg_json_at(list, i), i, &limits->item, &out->items[i], err);
        if (rc != DG_OK)
            return rc;
        characters += out->items[i].error ? 0 : dg_request_characters(&out->items[i].text);
    }
    if (characters > limits->characters)
        return dg_error_field(err, DG_ELIMIT, "items",
            "the batch has %zu characters, the limit is %zu", characters, limits->characters);
    return DG_OK;
}

int dg_v1_batch_read(const char *body, size_t n, const struct dg_batch_limits *limits,
    struct dg_v1_batch *out, struct dg_error *err)
{
    static const char *const allowed[] = {"items", "priority", "timeout_ms", NULL};
    memset(out, 0, sizeof *out);
    out->priority = DG_CLASS_BULK;
    int rc = dg_request_object(body, n, allowed, &out->root, err);
    if (rc == DG_OK)
        rc = dg_request_priority(out->root, &out->priority, err);
    if (rc == DG_OK)
        rc = dg_request_timeout(out->root, limits->item.timeout_ms, &out->timeout_ms, err);
    if (rc == DG_OK)
        rc = read_items(out->root, limits, out, err);
    return rc;
}

void dg_v1_batch_free(struct dg_v1_batch *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->items[i].error);
    free(r->items);
    dg_json_free(r->root);
    memset(r, 0, sizeof *r);
}
