/* POST /v1/batch: many texts, pairs mixed; answers together, or line by line as they finish. An
 * error in one item is reported with that item and affects no other; an error in the whole batch
 * fails the request. */
#include "server/api/answer.h"
#include "server/api/endpoints.h"
#include "server/api/mixed.h"
#include "server/http/reply.h"

#include <stdio.h>
#include <string.h>

#define ID_MAX 256 /* bytes of an id */

/* Reads an item's id: a string that is not too long, or an integer. Ids need not be distinct:
 * answers carry the item's position, too. */
static int read_id(
    const struct dg_json *o, const char *where, const void **out, struct dg_error *err)
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
    if (len > ID_MAX)
        return dg_error_field(
            err, DG_ELIMIT, name, "%s has %zu bytes, the limit is %d", name, len, ID_MAX);
    *out = id;
    return DG_OK;
}

static int read_item(const struct dg_json *o, const char *where, const struct dg_limits *limits,
    struct dg_item *item, struct dg_error *err)
{
    static const enum dg_body_field fields[] = {
        DG_BODY_ID, DG_BODY_TEXT, DG_BODY_LANGUAGES, DG_BODY_OPTIONS, DG_BODY_END};
    struct dg_body b;
    dg_body_init(&b, item->request, limits);
    int rc = read_id(o, where, &item->extra, err); /* first, so that error reports carry it */
    if (rc == DG_OK)
        rc = dg_body_read(&b, o, where, fields, err);
    if (rc != DG_OK)
        return rc;
    dg_body_put(&b, 0, 1, item);
    if (strcmp(item->source, DG_SOURCE_AUTO) != 0)
        return DG_OK;
    item->detected = true;
    return dg_source_detect(item->request, item->texts, &item->source, &item->confidence, err);
}

/* Keeps an item's own error with it; only running out of memory fails the whole batch. */
static int take_item(const struct dg_json *o, const struct dg_limits *limits, struct dg_item *item,
    struct dg_error *err)
{
    char where[32];
    struct dg_error why = {0};
    snprintf(where, sizeof where, "items[%zu]", item->index);
    if (read_item(o, where, limits, item, &why) == DG_OK)
        return DG_OK;
    struct dg_error *kept =
        why.code == DG_ENOMEM ? NULL : dg_arena_alloc(&item->request->arena, sizeof *kept);
    if (!kept)
        return dg_error_set(err, DG_ENOMEM, "no memory for the batch");
    *kept = why;
    item->wrong = kept;
    return DG_OK;
}

static int take(struct dg_request *r, const struct dg_body *b, struct dg_error *err)
{
    const struct dg_json *list = dg_json_get(r->body, "items");
    size_t n = dg_json_length(list), characters = 0;
    if (dg_json_typeof(list) != DG_JSON_ARRAY)
        return dg_error_field(err, DG_EINVAL, "items", "items must be an array, not %s",
            dg_json_type_name(dg_json_typeof(list)));
    if (n == 0)
        return dg_error_field(err, DG_EINVAL, "items", "items is an empty array");
    if (n > b->limits->items)
        return dg_error_field(err, DG_ELIMIT, "items", "the batch has %zu items, the limit is %zu",
            n, b->limits->items);
    int rc = dg_request_make_items(r, n, err);
    for (size_t i = 0; i < n && rc == DG_OK; i++) {
        rc = take_item(dg_json_at(list, i), b->limits, &r->items[i], err);
        characters += r->items[i].wrong ? 0 : r->items[i].characters;
    }
    if (rc == DG_OK && characters > b->limits->all_characters)
        return dg_error_field(err, DG_ELIMIT, "items",
            "the batch has %zu characters, the limit is %zu", characters,
            b->limits->all_characters);
    return rc;
}

/* ---- writing ---- */

/* Begins an item's answer: {"index","id"?. */
static struct dg_json *open_answer(const struct dg_item *item)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_int(o, "index", (int64_t)item->index);
    if (item->extra)
        dg_json_set_take(o, "id", dg_json_copy(item->extra));
    return o;
}

static int write(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    struct dg_json *o = open_answer(item);
    struct dg_usage usage = {0};
    int rc = dg_answer_translation(item, 0, arena, o, &usage, err);
    if (item->detected)
        dg_json_set_int(o, "source_confidence", item->confidence);
    dg_json_set_take(o, "usage", dg_usage_write(&usage));
    dg_usage_add(&item->request->usage, &usage);
    if (rc == DG_OK)
        dg_answer_put_take(o, &item->answer);
    else
        dg_json_free(o);
    return rc;
}

/* Prefixes the error's field with the item, as the request names it. */
static void name_field(const struct dg_item *item, struct dg_error *err)
{
    char name[sizeof err->field];
    if (err->field[0] == '\0' || strncmp(err->field, "items[", 6) == 0)
        return;
    snprintf(name, sizeof name, "items[%zu].%.40s", item->index, err->field);
    memcpy(err->field, name, sizeof name);
}

static void write_error(struct dg_item *item, const struct dg_error *err)
{
    struct dg_json *o = open_answer(item);
    struct dg_error named = *err;
    name_field(item, &named);
    dg_json_set_take(o, "error", dg_reply_error_json(&named));
    dg_answer_put_take(o, &item->answer);
}

static int write_whole(const struct dg_request *r, struct dg_buffer *out, struct dg_error *err)
{
    (void)err;
    dg_buffer_adds(out, "{\"items\":[");
    for (size_t i = 0; i < r->n; i++) {
        struct dg_buffer *answer = &r->items[i].answer;
        dg_buffer_adds(out, i > 0 ? "," : "");
        dg_buffer_add(out, answer->data, answer->len);
        out->failed |= answer->failed || answer->len == 0; /* memory was out */
        dg_buffer_deinit(answer);                          /* its bytes are in the reply */
    }
    dg_buffer_adds(out, "],\"usage\":");
    dg_answer_put_take(dg_usage_write(&r->usage), out);
    dg_buffer_adds(out, "}");
    return DG_OK;
}

const struct dg_endpoint dg_endpoint_batch = {
    .fields = {DG_BODY_BULK_PRIORITY, DG_BODY_TIMEOUT_MS, DG_BODY_ITEMS},
    .take = take,
    .kind = {.may_pivot = true,
        .fed = true,
        .write = write,
        .write_error = write_error,
        .write_whole = write_whole,
        .fail = dg_reply_failure},
};
