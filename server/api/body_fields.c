/* The table of a body's fields. */
#include "server/api/body.h"

#include "translate/search_fields.h"

#include <stdio.h>
#include <string.h>

#define MAX_ALTERNATIVES 16
#define MAX_ENTRIES 5000 /* entries per glossary */

static int read_text(const char *name, const struct dg_json *v, void *out, struct dg_error *err)
{
    struct dg_body *b = out;
    return dg_body_read_texts(b, name, v, true, &b->texts, err);
}

static int read_texts(const char *name, const struct dg_json *v, void *out, struct dg_error *err)
{
    struct dg_body *b = out;
    return dg_body_read_texts(b, name, v, false, &b->texts, err);
}

/* Called after the texts were read. */
static int read_given(const char *name, const struct dg_json *v, void *out, struct dg_error *err)
{
    struct dg_body *b = out;
    int rc = dg_body_read_texts(b, name, v, false, &b->given, err);
    if (rc != DG_OK || b->n_given == b->n_texts)
        return rc;
    return dg_error_field(
        err, DG_EINVAL, name, "translation has %zu texts, text has %zu", b->n_given, b->n_texts);
}

static int read_given_one(
    const char *name, const struct dg_json *v, void *out, struct dg_error *err)
{
    struct dg_body *b = out;
    return dg_body_read_texts(b, name, v, true, &b->given, err);
}

static int take_code(const char *name, const char *code, const char **out, struct dg_error *err)
{
    *out = code;
    return code[0] != '\0' ? DG_OK
                           : dg_error_field(err, DG_EINVAL, name,
                                 "%s is empty, expected a language code", name);
}

static int take_source(const char *name, const char *code, void *out, struct dg_error *err)
{
    return take_code(name, code, &((struct dg_body *)out)->source, err);
}

static int take_target(const char *name, const char *code, void *out, struct dg_error *err)
{
    return take_code(name, code, &((struct dg_body *)out)->target, err);
}

static int read_sampling(const char *name, const struct dg_json *v, void *out, struct dg_error *err)
{
    struct dg_body *b = out;
    const struct dg_fields t = dg_sampling_fields(&b->options.search.sampling);
    dg_fields_default(&t);
    return dg_fields_from_json(&t, name, v, DG_FROM_FILE, err);
}

static int read_named_glossary(
    struct dg_body *b, const char *name, const char *wanted, struct dg_error *err)
{
    if (!wanted)
        return dg_error_field(
            err, DG_EINVAL, name, "%s must not contain the character U+0000", name);
    struct dg_error why = {0};
    int rc = dg_request_name_glossary(b->request, wanted, &b->options, &why);
    if (rc == DG_ENOTFOUND)
        return dg_error_field(
            err, DG_EINVAL, name, "%s: no glossary is named \"%.64s\"", name, wanted);
    return rc == DG_OK ? rc : dg_error_set(err, rc, "%s", why.message);
}

/* An object of sources with their targets; or the name of a glossary of the server, or the id of
 * one of the client's. */
static int read_glossary(const char *name, const struct dg_json *v, void *out, struct dg_error *err)
{
    struct dg_body *b = out;
    struct dg_error why = {0};
    struct dg_glossary *g = NULL;
    size_t n = 0;
    if (dg_json_typeof(v) == DG_JSON_STRING)
        return read_named_glossary(b, name, dg_json_string(v, NULL), err);
    if (dg_json_typeof(v) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EINVAL, name,
            "%s must be an object of sources with their targets, or a glossary's name, not %s",
            name, dg_json_type_name(dg_json_typeof(v)));
    const size_t all = dg_json_length(v);
    if (all == 0 || all > MAX_ENTRIES)
        return dg_error_field(err, all ? DG_ELIMIT : DG_EINVAL, name,
            "%s has %zu entries, expected 1 to %d", name, all, MAX_ENTRIES);
    struct dg_glossary_entry *list = dg_arena_array(&b->request->arena, all, sizeof *list);
    if (!list)
        return dg_error_set(err, DG_ENOMEM, "no memory for a glossary of %zu entries", all);
    for (const char *k = dg_json_next_key(v, NULL); k; k = dg_json_next_key(v, k)) {
        const struct dg_json *target = dg_json_get(v, k);
        if (dg_json_typeof(target) != DG_JSON_STRING)
            return dg_error_field(err, DG_EINVAL, name,
                "%s: the target of \"%.60s\" must be a string, not %s", name, k,
                dg_json_type_name(dg_json_typeof(target)));
        list[n].source = k;
        list[n].source_len = strlen(k);
        list[n].target = dg_json_string(target, &list[n].target_len);
        n++;
    }
    int rc = dg_glossary_make(list, n, &g, &why);
    if (rc != DG_OK)
        return dg_error_field(err, rc, name, "%s: %s", name, why.message);
    rc = dg_request_keep_glossary_take(b->request, g, err);
    b->options.glossary = rc == DG_OK ? g : NULL;
    return rc;
}

/* true (the default), or false: no translation memory is used. */
static int read_memory(const char *name, const struct dg_json *v, void *out, struct dg_error *err)
{
    if (dg_json_typeof(v) != DG_JSON_BOOL)
        return dg_error_field(err, DG_EINVAL, name, "%s must be true or false, not %s", name,
            dg_json_type_name(dg_json_typeof(v)));
    ((struct dg_body *)out)->options.no_memory = !dg_json_bool(v);
    return DG_OK;
}

static int take_format(const char *name, const char *text, void *out, struct dg_error *err)
{
    char names[160] = "";
    size_t n = 0;
    if (dg_format_find(text, &((struct dg_body *)out)->options.format))
        return DG_OK;
    for (size_t i = 0; dg_format_names[i] && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s",
            i == 0                   ? ""
            : dg_format_names[i + 1] ? ", "
                                     : " or ",
            dg_format_names[i]);
    return dg_error_field(err, DG_EINVAL, name, "%s must be %s, not \"%.40s\"", name, names, text);
}

static int take_kind(const char *name, const char *text, void *out, struct dg_error *err)
{
    static const char *const kinds[] = {"encoder", "decoder", "cross"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, kinds[i]) == 0) {
            ((struct dg_body *)out)->kind = i;
            return DG_OK;
        }
    }
    return dg_error_field(
        err, DG_EINVAL, name, "kind must be encoder, decoder or cross, not \"%.40s\"", text);
}

static int take_priority(const char *name, const char *text, void *out, struct dg_error *err)
{
    const bool bulk = strcmp(text, "bulk") == 0;
    if (!bulk && strcmp(text, "interactive") != 0)
        return dg_error_field(
            err, DG_EINVAL, name, "priority is \"%.32s\", expected interactive or bulk", text);
    ((struct dg_body *)out)->priority = bulk ? DG_CLASS_BULK : DG_CLASS_INTERACTIVE;
    return DG_OK;
}

#define AT(member) DG_FIELD_AT(struct dg_body, member)
#define MUST DG_FIELD_REQUIRED
#define MAX_BEAM DG_FIELD_OWN   /* the largest value is limits->beam */
#define MAX_TIMEOUT_MS 86400000 /* larger values than the server's limit are reduced to it */

static const struct dg_field table[DG_BODY_FIELDS] = {
    [DG_BODY_ID] = {"id", DG_FIELD_OTHER},
    [DG_BODY_ITEMS] = {"items", DG_FIELD_OTHER, .flags = MUST},
    [DG_BODY_TEXT] = {"text", DG_FIELD_OTHER, .read = read_text, .flags = MUST},
    [DG_BODY_TEXTS] = {"text", DG_FIELD_OTHER, .read = read_texts, .flags = MUST},
    [DG_BODY_GIVEN] = {"translation", DG_FIELD_OTHER, .read = read_given, .flags = MUST},
    [DG_BODY_GIVEN_ONE] = {"translation", DG_FIELD_OTHER, .read = read_given_one},
    [DG_BODY_SOURCE] = {"source", DG_FIELD_CUSTOM, .take = take_source, .flags = MUST},
    [DG_BODY_TARGET] = {"target", DG_FIELD_CUSTOM, .take = take_target, .flags = MUST},
    [DG_BODY_BEAM_SIZE] = {"beam_size", DG_FIELD_INT, AT(options.search.beam), 1, 0,
        .flags = MAX_BEAM},
    [DG_BODY_LENGTH_PENALTY] = {"length_penalty", DG_FIELD_REAL, AT(options.search.alpha), 0, 10},
    [DG_BODY_N_BEST] = {"n_best", DG_FIELD_INT, AT(options.search.n_best), 1, 0, .flags = MAX_BEAM},
    [DG_BODY_RERANK] = {"rerank", DG_FIELD_BOOL, AT(options.rerank)},
    [DG_BODY_SCORES] = {"scores", DG_FIELD_BOOL, AT(options.scores)},
    [DG_BODY_ALIGNMENTS] = {"alignments", DG_FIELD_BOOL, AT(options.alignments)},
    [DG_BODY_TARGET_PREFIX] = {"target_prefix", DG_FIELD_STRING, AT(options.target_prefix)},
    [DG_BODY_GIVEN_PREFIX] = {"target_prefix", DG_FIELD_STRING, AT(options.target_prefix),
        .flags = MUST},
    [DG_BODY_SAMPLING] = {"sampling", DG_FIELD_OTHER, .read = read_sampling},
    [DG_BODY_FORMAT] = {"format", DG_FIELD_CUSTOM, .take = take_format},
    [DG_BODY_GLOSSARY] = {"glossary", DG_FIELD_OTHER, .read = read_glossary},
    [DG_BODY_MEMORY] = {"memory", DG_FIELD_OTHER, .read = read_memory},
    [DG_BODY_N] = {"n", DG_FIELD_INT, AT(options.alternatives), 1, MAX_ALTERNATIVES,
        .fallback = "5"},
    [DG_BODY_KIND] = {"kind", DG_FIELD_CUSTOM, .take = take_kind, .fallback = "cross"},
    [DG_BODY_LAYER] = {"layer", DG_FIELD_INT, AT(layer), 1, 1000},
    [DG_BODY_STREAM] = {"stream", DG_FIELD_BOOL, AT(stream)},
    [DG_BODY_PRIORITY] = {"priority", DG_FIELD_CUSTOM, .take = take_priority},
    [DG_BODY_BULK_PRIORITY] = {"priority", DG_FIELD_CUSTOM, .take = take_priority,
        .fallback = "bulk"},
    [DG_BODY_TIMEOUT_MS] = {"timeout_ms", DG_FIELD_INT, AT(timeout_ms), 1, MAX_TIMEOUT_MS},
};

int dg_body_read(struct dg_body *b, const struct dg_json *o, const char *where,
    const enum dg_body_field *fields, struct dg_error *err)
{
    struct dg_field rows[DG_BODY_FIELDS];
    struct dg_fields t = {.rows = rows, .out = b};
    for (; fields[t.n] != DG_BODY_END; t.n++) {
        rows[t.n] = table[fields[t.n]];
        if (rows[t.n].flags & MAX_BEAM)
            rows[t.n].max = b->limits->beam;
    }
    dg_fields_default(&t);
    int rc = dg_fields_from_json(&t, where, o, DG_FROM_FILE, err);
    if (b->timeout_ms > b->limits->timeout_ms)
        b->timeout_ms = b->limits->timeout_ms;
    return rc == DG_OK ? dg_body_check_characters(b, where, err) : rc;
}
