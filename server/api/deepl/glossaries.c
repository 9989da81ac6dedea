/* DeepL's glossaries: /v2/glossaries, of one language pair each, and /v3/glossaries, of several.
 * Both are those of /v1/glossaries (glossaries/collections.h): what is made here is seen there. v2
 * sees only glossaries that have one language pair. */
#include "base/clock.h"
#include "server/api/answer.h"
#include "server/api/deepl/deepl.h"
#include "server/api/deepl/glossary_body.h"
#include "server/api/entries.h"
#include "server/api/routes.h"
#include "server/glossaries/collections.h"
#include "text/language_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A glossary with its languages. */
struct glossary {
    struct dg_memory_info info;
    /* [n] */
    struct dg_memory_dictionary *list;
    size_t n;
};

static bool is_v3(const struct dg_side *s)
{
    return s->request->path[2] == '3';
}

/* ---- lookups ---- */

static int look_up(struct dg_memory *m, const struct dg_memory_info *info, struct glossary *g,
    struct dg_error *err)
{
    g->info = *info;
    return dg_memory_dictionaries(m, info->id, &g->list, &g->n, err);
}

/* Finds the glossary that the path names; own: it must be one that the client may change. v2 finds
 * only those of one language pair. */
static int find(const struct dg_side *s, struct dg_memory *m, bool own, struct glossary *g,
    struct dg_error *err)
{
    char id[DG_MEMORY_ID];
    struct dg_memory_info info;
    dg_routes_id(s->request->path, id, sizeof id);
    int rc = own ? dg_memory_get_own(m, DG_MEMORY_GLOSSARY, s->owner, id, &info, err)
                 : dg_memory_get(m, DG_MEMORY_GLOSSARY, s->owner, id, &info, err);
    if (rc == DG_OK)
        rc = look_up(m, &info, g, err);
    if (rc == DG_OK && !is_v3(s) && g->n != 1)
        rc = dg_error_set(err, DG_ENOTFOUND,
            "the glossary has %zu pairs of languages: it is one of /v3/glossaries", g->n);
    return rc;
}

/* Compares a dictionary's code with a requested one. 1: the same; 0: the same as far as both
 * specify it; -1: another language. */
static int closeness(const char *own, const char *asked)
{
    char code[DG_MEMORY_LANGUAGE];
    if (!dg_language_same(own, asked))
        return -1;
    return dg_memory_language(asked, code, NULL) == DG_OK && strcmp(own, code) == 0;
}

/* Finds the closest dictionary of two languages: "de-AT" may be beside "de". DG_ENOTFOUND. */
static int find_dictionary(const struct glossary *g, const char *const languages[2],
    const struct dg_memory_dictionary **out, struct dg_error *err)
{
    int closest = -1;
    for (size_t i = 0; i < g->n; i++) {
        const int source = closeness(g->list[i].source_lang, languages[0]);
        const int target = closeness(g->list[i].target_lang, languages[1]);
        if (source < 0 || target < 0 || source + target <= closest)
            continue;
        closest = source + target;
        *out = &g->list[i];
    }
    if (closest >= 0)
        return DG_OK;
    return dg_error_set(err, DG_ENOTFOUND, "the glossary has no dictionary from %.40s to %.40s",
        languages[0], languages[1]);
}

/* ---- writing ---- */

static void set_dictionary(struct dg_json *o, const struct dg_memory_dictionary *d)
{
    dg_json_set_string(o, "source_lang", d->source_lang);
    dg_json_set_string(o, "target_lang", d->target_lang);
    dg_json_set_int(o, "entry_count", d->pairs);
}

/* Describes a glossary as v2 or v3 does. */
static struct dg_json *describe(const struct glossary *g, bool v3)
{
    struct dg_json *o = dg_json_new_object(), *all = dg_json_new_array();
    dg_json_set_string(o, "glossary_id", g->info.id);
    dg_json_set_string(o, "name", g->info.name);
    dg_answer_time(o, "creation_time", g->info.created_s, ".000Z");
    for (size_t i = 0; i < g->n; i++) {
        struct dg_json *d = v3 ? dg_json_new_object() : o;
        set_dictionary(d, &g->list[i]);
        if (v3)
            dg_json_append_take(all, d);
    }
    if (v3) {
        dg_json_set_take(o, "dictionaries", all);
    } else {
        dg_json_set_bool(o, "ready", true);
        dg_json_free(all);
    }
    return o;
}

/* ---- /v2/glossaries, /v3/glossaries ---- */

static int list(
    const struct dg_side *s, struct dg_memory *m, struct dg_json *out, struct dg_error *err)
{
    struct dg_memory_info *infos;
    size_t n;
    int rc = dg_memory_list(m, DG_MEMORY_GLOSSARY, s->owner, &infos, &n, err);
    for (size_t i = 0; rc == DG_OK && i < n; i++) {
        struct glossary g = {0};
        rc = look_up(m, &infos[i], &g, err);
        if (rc == DG_OK && (is_v3(s) || g.n == 1))
            dg_json_append_take(out, describe(&g, is_v3(s)));
        free(g.list);
    }
    free(infos);
    return rc;
}

void dg_deepl_glossaries_list(const struct dg_side *s, struct dg_http_reply *r)
{
    struct dg_json *root = dg_json_new_object(), *all = dg_json_new_array();
    struct dg_error err = {0};
    struct dg_memory *m = dg_collections_take_reader(s->app->collections);
    list(s, m, all, &err);
    dg_collections_give_reader(s->app->collections);
    dg_json_set_take(root, "glossaries", all);
    dg_deepl_reply_take(r, 200, root, &err);
}

static int make(const struct dg_side *s, struct dg_memory *m,
    const struct dg_deepl_glossary_body *b, struct glossary *g, struct dg_error *err)
{
    struct dg_memory_info wanted = {
        .kind = DG_MEMORY_GLOSSARY, .created_s = (int64_t)dg_clock_wall_s()};
    struct dg_memory_info made;
    snprintf(wanted.name, sizeof wanted.name, "%s", b->name);
    snprintf(wanted.owner, sizeof wanted.owner, "%s", s->owner);
    int rc = dg_memory_make(m, &wanted, b->pairs.list, b->pairs.n, &made, err);
    return rc == DG_OK ? look_up(m, &made, g, err) : rc;
}

/* Changes the glossary `before` by the request's body; g becomes the changed one. */
static int alter(const struct dg_side *s, const struct glossary *before,
    const struct dg_deepl_glossary_body *b, bool put, struct glossary *g, struct dg_error *err)
{
    struct dg_memory_info info;
    const struct dg_memory_change change = {.name = b->name,
        .pairs = b->pairs.list,
        .n = b->pairs.n,
        .how = put ? DG_MEMORY_REPLACE_LANGUAGES : DG_MEMORY_MERGE};
    struct dg_memory *m = dg_collections_take(s->app->collections);
    int rc = dg_memory_alter(m, &before->info, &change, &info, err);
    if (rc == DG_OK)
        rc = look_up(m, &info, g, err);
    dg_collections_give(s->app->collections);
    return rc;
}

void dg_deepl_glossary_make(const struct dg_side *s, struct dg_http_reply *r)
{
    struct dg_deepl_glossary_body b = {0};
    struct glossary g = {0};
    struct dg_error err = {0};
    int rc = dg_deepl_glossary_read(
        s, is_v3(s) ? DG_DEEPL_MULTILINGUAL : DG_DEEPL_MONOLINGUAL, &b, &err);
    if (rc == DG_OK) {
        rc = make(s, dg_collections_take(s->app->collections), &b, &g, &err);
        dg_deepl_reply_take(r, 201, rc == DG_OK ? describe(&g, is_v3(s)) : NULL, &err);
        dg_collections_give_made(s->app->collections, &g.info, r->status);
    } else {
        dg_deepl_reply_take(r, 201, NULL, &err);
    }
    dg_deepl_glossary_body_deinit(&b);
    free(g.list);
}

/* ---- one of them ---- */

void dg_deepl_glossary_get(const struct dg_side *s, struct dg_http_reply *r)
{
    struct glossary g = {0};
    struct dg_error err = {0};
    int rc = find(s, dg_collections_take_reader(s->app->collections), false, &g, &err);
    dg_collections_give_reader(s->app->collections);
    dg_deepl_reply_take(r, 200, rc == DG_OK ? describe(&g, is_v3(s)) : NULL, &err);
    free(g.list);
}

void dg_deepl_glossary_remove(const struct dg_side *s, struct dg_http_reply *r)
{
    struct glossary g = {0};
    struct dg_error err = {0};
    struct dg_memory *m = dg_collections_take(s->app->collections);
    if (find(s, m, true, &g, &err) == DG_OK)
        dg_memory_remove(m, g.info.id, &err);
    dg_collections_give(s->app->collections);
    dg_deepl_reply_take(r, 204, NULL, &err);
    free(g.list);
}

/* PATCH: changes the name, adds entries. PUT: replaces the dictionary of its languages. A fault of
 * the body is reported before a glossary that is missing. */
void dg_deepl_glossary_change(const struct dg_side *s, struct dg_http_reply *r)
{
    const bool put = s->request->method[1] == 'U';
    const struct dg_memory_dictionary *d = NULL;
    struct glossary before = {0}, g = {0};
    struct dg_error err = {0}, missing = {0};
    struct dg_json *root = NULL;
    find(s, dg_collections_take(s->app->collections), true, &before, &missing);
    dg_collections_give(s->app->collections);
    struct dg_deepl_glossary_body b = {.existing = before.list, .n_existing = before.n};
    int rc = dg_deepl_glossary_read(s, put ? DG_DEEPL_DICTIONARY : DG_DEEPL_CHANGE, &b, &err);
    if (rc == DG_OK && missing.code != DG_OK) {
        err = missing;
        rc = missing.code;
    }
    if (rc == DG_OK)
        rc = alter(s, &before, &b, put, &g, &err);
    if (rc == DG_OK && put) {
        const char *const languages[2] = {b.pairs.list[0].source_lang, b.pairs.list[0].target_lang};
        rc = find_dictionary(&g, languages, &d, &err);
    }
    if (d) {
        root = dg_json_new_object();
        set_dictionary(root, d);
    } else if (rc == DG_OK) {
        root = describe(&g, true);
    }
    dg_deepl_reply_take(r, 200, root, &err);
    dg_deepl_glossary_body_deinit(&b);
    free(before.list);
    free(g.list);
}

void dg_deepl_dictionary_remove(const struct dg_side *s, struct dg_http_reply *r)
{
    const struct dg_memory_dictionary *d = NULL;
    struct glossary g = {0};
    struct dg_json *query = NULL;
    const char *languages[2];
    struct dg_error err = {0};
    int rc = dg_deepl_glossary_query(s, &query, languages, &err);
    if (rc == DG_OK) {
        struct dg_memory *m = dg_collections_take(s->app->collections);
        rc = find(s, m, true, &g, &err);
        if (rc == DG_OK)
            rc = find_dictionary(&g, languages, &d, &err);
        if (rc == DG_OK)
            dg_memory_remove_languages(m, g.info.id, d->source_lang, d->target_lang, &err);
        dg_collections_give(s->app->collections);
    }
    dg_deepl_reply_take(r, 204, NULL, &err);
    dg_json_free(query);
    free(g.list);
}

/* ---- entries ---- */

/* Writes a dictionary's entries as text: v3's of the languages, v2's of the only dictionary. */
static int write_entries(const struct dg_side *s, struct dg_memory *m,
    const char *const languages[2], struct glossary *g, const struct dg_memory_dictionary **d,
    struct dg_buffer *out, struct dg_error *err)
{
    const char *type;
    int rc = find(s, m, false, g, err);
    *d = g->list;
    if (rc == DG_OK && is_v3(s))
        rc = find_dictionary(g, languages, d, err);
    if (rc != DG_OK)
        return rc;
    const char *const own[2] = {(*d)->source_lang, (*d)->target_lang};
    return dg_entries_write(m, g->info.id, own, "", &type, out, err);
}

static struct dg_json *entries_of(
    const struct dg_memory_dictionary *d, const struct dg_buffer *text)
{
    struct dg_json *root = dg_json_new_object(), *all = dg_json_new_array();
    struct dg_json *o = dg_json_new_object();
    dg_json_set_string(o, "source_lang", d->source_lang);
    dg_json_set_string(o, "target_lang", d->target_lang);
    dg_json_set_take(o, "entries", dg_json_new_string(text->data ? text->data : "", text->len));
    dg_json_set_string(o, "entries_format", "tsv");
    dg_json_append_take(all, o);
    dg_json_set_take(root, "dictionaries", all);
    return root;
}

void dg_deepl_glossary_entries(const struct dg_side *s, struct dg_http_reply *r)
{
    const struct dg_memory_dictionary *d = NULL;
    struct glossary g = {0};
    struct dg_json *query = NULL;
    const char *languages[2] = {NULL, NULL};
    struct dg_buffer text;
    struct dg_error err = {0};
    dg_buffer_init(&text);
    int rc = is_v3(s) ? dg_deepl_glossary_query(s, &query, languages, &err) : DG_OK;
    if (rc == DG_OK) {
        struct dg_memory *m = dg_collections_take_reader(s->app->collections);
        rc = write_entries(s, m, languages, &g, &d, &text, &err);
        dg_collections_give_reader(s->app->collections);
    }
    if (rc == DG_OK && !is_v3(s)) {
        r->status = 200;
        r->content_type = "text/tab-separated-values; charset=utf-8";
        r->body = dg_buffer_take(&text, &r->body_len);
    } else {
        dg_deepl_reply_take(r, 200, rc == DG_OK ? entries_of(d, &text) : NULL, &err);
    }
    dg_buffer_deinit(&text);
    dg_json_free(query);
    free(g.list);
}
