#include "convert/yaml.h"

#include "base/arena.h"
#include "base/array.h"

#include <yaml.h>

#include <stdlib.h>
#include <string.h>

#define MAX_ENTRIES 4194304

struct dg_yaml {
    struct dg_arena arena;
    struct dg_yaml_entry *entries;
    size_t n, cap;
};

struct items {
    const char **data;
    size_t n, cap;
};

/* State of the parser. */
struct reader {
    yaml_parser_t parser;
    struct dg_yaml *y;
    const char *what;
    struct dg_error *err;
};

static int no_memory(struct reader *r)
{
    return dg_error_set(r->err, DG_ENOMEM, "no memory for %s", r->what);
}

static int refuse(struct reader *r, const yaml_event_t *event, const char *why)
{
    return dg_error_field(
        r->err, DG_EFORMAT, "yaml", "%s: line %zu: %s", r->what, event->start_mark.line + 1, why);
}

/* The next event; the caller deletes it. */
static int next(struct reader *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event))
        return 0;
    memset(event, 0, sizeof *event);
    if (r->parser.error == YAML_MEMORY_ERROR)
        return no_memory(r);
    return dg_error_field(r->err, DG_EFORMAT, "yaml", "%s: line %zu: %s", r->what,
        r->parser.problem_mark.line + 1, r->parser.problem ? r->parser.problem : "not YAML");
}

/* Check that the next event is of this type. */
static int expect(struct reader *r, yaml_event_type_t type, const char *why)
{
    yaml_event_t event;
    int rc = next(r, &event);
    if (!rc && event.type != type)
        rc = refuse(r, &event, why);
    yaml_event_delete(&event);
    return rc;
}

static int copy_scalar(struct reader *r, const yaml_event_t *event, const char **out)
{
    const char *s = (const char *)event->data.scalar.value;
    if (memchr(s, 0, event->data.scalar.length))
        return refuse(r, event, "a NUL character");
    *out = dg_arena_strndup(&r->y->arena, s, event->data.scalar.length);
    return *out ? 0 : no_memory(r);
}

static int add_item(struct reader *r, struct items *items, const char *s)
{
    const char **data = dg_array_grow(items->data, items->n, &items->cap, sizeof *data);
    if (!data)
        return no_memory(r);
    items->data = data;
    items->data[items->n++] = s;
    return 0;
}

static int read_list(struct reader *r, struct items *items)
{
    for (;;) {
        yaml_event_t event;
        const char *s = NULL;
        int rc = next(r, &event);
        bool end = !rc && event.type == YAML_SEQUENCE_END_EVENT;
        if (!rc && !end)
            rc = event.type == YAML_SCALAR_EVENT ? copy_scalar(r, &event, &s)
                                                 : refuse(r, &event, "expected a scalar in a list");
        yaml_event_delete(&event);
        if (!rc && !end)
            rc = add_item(r, items, s);
        if (rc || end)
            return rc;
    }
}

static int add_entry(struct reader *r, const char *key, bool is_list, const struct items *items)
{
    struct dg_yaml *y = r->y;
    if (y->n == MAX_ENTRIES)
        return dg_error_field(
            r->err, DG_ELIMIT, "yaml", "%s: more than %d entries", r->what, MAX_ENTRIES);
    struct dg_yaml_entry *entries = dg_array_grow(y->entries, y->n, &y->cap, sizeof *entries);
    if (!entries)
        return no_memory(r);
    y->entries = entries;
    const char **copy = dg_arena_array(&y->arena, items->n, sizeof *copy);
    if (!copy)
        return no_memory(r);
    if (items->n)
        memcpy(copy, items->data, items->n * sizeof *copy);
    y->entries[y->n++] = (struct dg_yaml_entry){key, is_list, copy, items->n};
    return 0;
}

/* Read the value of `key`: a scalar or a list of scalars. */
static int read_value(struct reader *r, const char *key)
{
    struct items items = {0};
    yaml_event_t event;
    const char *s = NULL;
    int rc = next(r, &event);
    bool is_list = !rc && event.type == YAML_SEQUENCE_START_EVENT;
    if (!rc && !is_list)
        rc = event.type == YAML_SCALAR_EVENT
                 ? copy_scalar(r, &event, &s)
                 : refuse(r, &event, "expected a scalar or a list of scalars as a value");
    yaml_event_delete(&event);
    if (!rc)
        rc = is_list ? read_list(r, &items) : add_item(r, &items, s);
    if (!rc)
        rc = add_entry(r, key, is_list, &items);
    free(items.data);
    return rc;
}

static int read_mapping(struct reader *r)
{
    for (;;) {
        yaml_event_t event;
        const char *key = NULL;
        int rc = next(r, &event);
        bool end = !rc && event.type == YAML_MAPPING_END_EVENT;
        if (!rc && !end)
            rc = event.type == YAML_SCALAR_EVENT ? copy_scalar(r, &event, &key)
                                                 : refuse(r, &event, "expected a scalar as a key");
        yaml_event_delete(&event);
        if (!rc && !end)
            rc = read_value(r, key);
        if (rc || end)
            return rc;
    }
}

static int read_document(struct reader *r)
{
    int rc = expect(r, YAML_STREAM_START_EVENT, "not YAML");
    if (!rc)
        rc = expect(r, YAML_DOCUMENT_START_EVENT, "no document");
    if (!rc)
        rc = expect(r, YAML_MAPPING_START_EVENT, "expected a mapping");
    if (!rc)
        rc = read_mapping(r);
    if (!rc)
        rc = expect(r, YAML_DOCUMENT_END_EVENT, "something follows the mapping");
    if (!rc)
        rc = expect(r, YAML_STREAM_END_EVENT, "a second document");
    return rc;
}

int dg_yaml_parse(
    const char *text, size_t n, const char *what, struct dg_yaml **out, struct dg_error *err)
{
    struct reader r = {.what = what, .err = err, .y = calloc(1, sizeof *r.y)};
    if (!r.y)
        return no_memory(&r);
    dg_arena_init(&r.y->arena, 0);
    int rc = yaml_parser_initialize(&r.parser) ? 0 : no_memory(&r);
    if (!rc) {
        yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, n);
        rc = read_document(&r);
        yaml_parser_delete(&r.parser);
    }
    if (rc) {
        dg_yaml_free(r.y);
        return rc;
    }
    *out = r.y;
    return 0;
}

void dg_yaml_free(struct dg_yaml *y)
{
    if (!y)
        return;
    dg_arena_deinit(&y->arena);
    free(y->entries);
    free(y);
}

size_t dg_yaml_count(const struct dg_yaml *y)
{
    return y->n;
}

const struct dg_yaml_entry *dg_yaml_at(const struct dg_yaml *y, size_t i)
{
    return i < y->n ? &y->entries[i] : NULL;
}

const struct dg_yaml_entry *dg_yaml_find(const struct dg_yaml *y, const char *key)
{
    for (size_t i = 0; i < y->n; i++) {
        if (strcmp(y->entries[i].key, key) == 0)
            return &y->entries[i];
    }
    return NULL;
}
