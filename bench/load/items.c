#include "bench/load/items.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int dg_load_items_class(const struct dg_load_items *items, const char *name)
{
    for (size_t i = 0; i < items->n_classes; i++)
        if (strcmp(items->classes[i], name) == 0)
            return (int)i;
    return -1;
}

static int class_add(
    struct dg_load_items *items, const char *name, uint32_t *out, struct dg_error *err)
{
    int known = dg_load_items_class(items, name);
    if (known < 0) {
        if (items->n_classes == DG_LOAD_CLASSES)
            return dg_error_set(err, DG_ELIMIT, "more than %d classes", DG_LOAD_CLASSES);
        if (!(items->classes[items->n_classes] = strdup(name)))
            return dg_error_set(err, DG_ENOMEM, "no memory for a class");
        known = (int)items->n_classes++;
    }
    *out = (uint32_t)known;
    return DG_OK;
}

/* A value's compact text, malloc'd; NULL when memory is out. */
static char *compact(const struct dg_json *v, size_t *len)
{
    struct dg_buffer b;
    char *s = NULL;
    dg_buffer_init(&b);
    if (dg_json_write(v, 0, &b) == 0)
        s = dg_buffer_take(&b, len);
    dg_buffer_deinit(&b);
    return s;
}

static int merge(struct dg_json *body, const struct dg_json *fields)
{
    for (const char *k = dg_json_next_key(fields, NULL); k; k = dg_json_next_key(fields, k))
        if (dg_json_set_take(body, k, dg_json_copy(dg_json_get(fields, k))) != 0)
            return -1;
    return 0;
}

static int build_request(struct dg_load_item *item, const char *class, const char *route,
    const struct dg_load_fields *fields, size_t n_fields, struct dg_error *err)
{
    struct dg_json *body = dg_json_copy(dg_json_get(item->line, "body"));
    struct dg_buffer b;
    size_t len = 0;
    int rc = body ? 0 : -1;
    for (size_t i = 0; i < n_fields && rc == 0; i++)
        if (fields[i].class[0] == '\0' || strcmp(fields[i].class, class) == 0)
            rc = merge(body, fields[i].object);
    char *text = rc == 0 ? compact(body, &len) : NULL;
    dg_buffer_init(&b);
    dg_buffer_addf(&b,
        "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Content-Length: %zu\r\n\r\n",
        route, len);
    item->header_len = b.len;
    if (text)
        dg_buffer_add(&b, text, len);
    item->request = text ? dg_buffer_take(&b, &item->request_len) : NULL;
    dg_buffer_deinit(&b);
    free(text);
    dg_json_free(body);
    return item->request ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a request");
}

static int take_answer(
    struct dg_load_item *item, const struct dg_json *answer, struct dg_error *err)
{
    const struct dg_json *list = dg_json_get(answer, "translations");
    const struct dg_json *usage = dg_json_get(answer, "usage");
    size_t len, sentences = 0;
    if (dg_json_typeof(list) != DG_JSON_ARRAY || dg_json_length(list) == 0)
        return dg_error_set(err, DG_EFORMAT, "an answer without \"translations\"");
    for (size_t i = 0; i < dg_json_length(list); i++)
        sentences += dg_json_length(dg_json_get(dg_json_at(list, i), "sentences"));
    free(item->expected);
    if (!(item->expected = compact(list, &len)))
        return dg_error_set(err, DG_ENOMEM, "no memory for an answer");
    item->sentences = (uint32_t)sentences;
    item->source_tokens = (uint32_t)dg_json_int(dg_json_get(usage, "source_tokens"));
    item->target_tokens = (uint32_t)dg_json_int(dg_json_get(usage, "target_tokens"));
    return DG_OK;
}

static int read_line(struct dg_load_items *items, const char *line, size_t len, const char *route,
    const struct dg_load_fields *fields, size_t n_fields, struct dg_error *err)
{
    struct dg_load_item *item = &items->list[items->n];
    const char *class = NULL;
    memset(item, 0, sizeof *item);
    item->sentences = 1;
    if (!(item->line = dg_json_parse(line, len, err)))
        return err ? err->code : DG_EFORMAT;
    items->n++;
    int rc = dg_json_field_string(item->line, NULL, "class", &class, err);
    if (rc == DG_OK &&
        (!class || dg_json_typeof(dg_json_get(item->line, "body")) != DG_JSON_OBJECT))
        rc = dg_error_set(err, DG_EFORMAT, "an item needs \"class\" and \"body\"");
    if (rc == DG_OK)
        rc = class_add(items, class, &item->class, err);
    if (rc == DG_OK)
        rc = build_request(item, class, route, fields, n_fields, err);
    if (rc == DG_OK && dg_json_get(item->line, "answer"))
        rc = take_answer(item, dg_json_get(item->line, "answer"), err);
    return rc;
}

int dg_load_items_read(const char *path, const char *route, const struct dg_load_fields *fields,
    size_t n_fields, struct dg_load_items *out, struct dg_error *err)
{
    struct dg_map map = {0};
    size_t cap = 0, number = 0;
    memset(out, 0, sizeof *out);
    int rc = dg_file_map(path, &map, err);
    for (const char *p = (const char *)map.data, *end = p + map.size; rc == DG_OK && p < end;) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((eol ? eol : end) - p);
        number++;
        if (out->n == cap) {
            cap = cap ? 2 * cap : 256;
            struct dg_load_item *list = realloc(out->list, cap * sizeof *list);
            if (!list) {
                rc = dg_error_set(err, DG_ENOMEM, "no memory for items");
                break;
            }
            out->list = list;
        }
        if (len > 0)
            rc = read_line(out, p, len, route, fields, n_fields, err);
        if (rc != DG_OK)
            dg_error_prefix(err, "%s:%zu", path, number);
        p += len + 1;
    }
    dg_file_unmap(&map);
    if (rc == DG_OK && out->n == 0)
        rc = dg_error_set(err, DG_EFORMAT, "%s holds no items", path);
    return rc;
}

void dg_load_items_free(struct dg_load_items *items)
{
    for (size_t i = 0; i < items->n; i++) {
        dg_json_free(items->list[i].line);
        free(items->list[i].request);
        free(items->list[i].expected);
        free(items->list[i].seen);
    }
    for (size_t i = 0; i < items->n_classes; i++)
        free(items->classes[i]);
    free(items->list);
    memset(items, 0, sizeof *items);
}

bool dg_load_item_check(struct dg_load_item *item, const char *body, size_t n)
{
    if (!item->expected || (item->seen && n == item->seen_len && memcmp(body, item->seen, n) == 0))
        return true;
    struct dg_json *answer = dg_json_parse(body, n, NULL);
    size_t len = 0;
    char *text = answer ? compact(dg_json_get(answer, "translations"), &len) : NULL;
    bool same = text && strcmp(text, item->expected) == 0;
    if (same && !item->seen && (item->seen = malloc(n))) {
        memcpy(item->seen, body, n);
        item->seen_len = n;
    }
    free(text);
    dg_json_free(answer);
    return same;
}

int dg_load_item_learn(struct dg_load_item *item, const char *body, size_t n, struct dg_error *err)
{
    struct dg_json *answer = dg_json_parse(body, n, err);
    if (!answer)
        return err ? err->code : DG_EFORMAT;
    int rc = take_answer(item, answer, err);
    if (rc != DG_OK)
        dg_json_free(answer);
    else if (dg_json_set_take(item->line, "answer", answer) != 0)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for an answer");
    return rc;
}

int dg_load_items_write(const struct dg_load_items *items, const char *path, struct dg_error *err)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    for (size_t i = 0; i < items->n; i++) {
        dg_json_write(items->list[i].line, 0, &b);
        dg_buffer_adds(&b, "\n");
    }
    int rc = b.failed ? dg_error_set(err, DG_ENOMEM, "no memory for items")
                      : dg_file_write(path, b.data, b.len, err);
    dg_buffer_deinit(&b);
    return rc;
}
