#include "server/api/collections.h"

#include "base/clock.h"
#include "server/access/gate.h"
#include "server/api/answer.h"
#include "server/api/collection_body.h"
#include "server/api/entries.h"
#include "server/api/routes.h"
#include "server/api/server_glossaries.h"
#include "server/api/side.h"
#include "server/glossaries/collections.h"
#include "server/http/form.h"
#include "server/http/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum dg_memory_kind kind_of(const struct dg_side *s)
{
    static const char glossaries[] = "/v1/glossaries";
    return strncmp(s->request->path, glossaries, strlen(glossaries)) == 0 ? DG_MEMORY_GLOSSARY
                                                                          : DG_MEMORY_SENTENCES;
}

static void fail(struct dg_http_reply *r, const struct dg_error *err)
{
    if (err->code == DG_ENOTFOUND)
        dg_reply_error(r, 404, "not_found", err->field, err->message);
    else
        dg_reply_failure(r, err);
}

/* ---- writing ---- */

static int describe(
    struct dg_memory *m, const struct dg_memory_info *i, struct dg_json **out, struct dg_error *err)
{
    struct dg_memory_dictionary *list;
    size_t n;
    int rc = dg_memory_dictionaries(m, i->id, &list, &n, err);
    if (rc != DG_OK)
        return rc;
    struct dg_json *o = dg_json_new_object(), *all = dg_json_new_array();
    dg_json_set_string(o, "id", i->id);
    dg_json_set_string(o, "name", i->name);
    dg_answer_time(o, "created", i->created_s, "Z");
    dg_json_set_bool(o, "shared", i->owner[0] == '\0');
    for (size_t k = 0; k < n; k++) {
        struct dg_json *d = dg_json_new_object();
        dg_json_set_string(d, "source", list[k].source_lang);
        dg_json_set_string(d, "target", list[k].target_lang);
        dg_json_set_int(d, "entries", list[k].pairs);
        dg_json_append_take(all, d);
    }
    dg_json_set_take(o, "dictionaries", all);
    free(list);
    *out = o;
    return DG_OK;
}

static int list(
    const struct dg_side *s, struct dg_memory *m, struct dg_json **out, struct dg_error *err)
{
    struct dg_memory_info *infos;
    size_t n;
    int rc = dg_memory_list(m, kind_of(s), s->owner, &infos, &n, err);
    if (rc != DG_OK)
        return rc;
    struct dg_json *root = dg_json_new_object(), *all = dg_json_new_array();
    for (size_t i = 0; i < n && rc == DG_OK; i++) {
        struct dg_json *o = NULL;
        rc = describe(m, &infos[i], &o, err);
        dg_json_append_take(all, o);
    }
    dg_json_set_take(root, kind_of(s) == DG_MEMORY_GLOSSARY ? "glossaries" : "memories", all);
    if (kind_of(s) == DG_MEMORY_GLOSSARY)
        dg_json_set_take(root, "server", dg_server_glossaries(s->app));
    free(infos);
    *out = root;
    return rc;
}

/* *made is the new collection; the caller removes it again if the reply cannot report it. */
static int make(const struct dg_side *s, struct dg_memory *m, struct dg_collection_body *b,
    struct dg_memory_info *made, struct dg_json **out, struct dg_error *err)
{
    struct dg_memory_info wanted = {.kind = kind_of(s), .created_s = (int64_t)dg_clock_wall_s()};
    if (strlen(b->name) >= sizeof wanted.name)
        return dg_error_field(err, DG_EINVAL, "name", "name has %zu bytes, expected 1 to %d",
            strlen(b->name), DG_MEMORY_NAME - 1);
    snprintf(wanted.name, sizeof wanted.name, "%s", b->name);
    snprintf(wanted.owner, sizeof wanted.owner, "%s", s->owner);
    int rc = dg_memory_make(m, &wanted, b->pairs.list, b->pairs.n, made, err);
    return rc == DG_OK ? describe(m, made, out, err) : rc;
}

/* Finds the collection that the path names; own: it must be one that the client may change. */
static int find(const struct dg_side *s, struct dg_memory *m, bool own, struct dg_memory_info *out,
    struct dg_error *err)
{
    char id[DG_MEMORY_ID];
    dg_routes_id(s->request->path, id, sizeof id);
    return own ? dg_memory_get_own(m, kind_of(s), s->owner, id, out, err)
               : dg_memory_get(m, kind_of(s), s->owner, id, out, err);
}

static int alter(const struct dg_side *s, struct dg_memory *m, const struct dg_collection_body *b,
    bool all, struct dg_json **out, struct dg_error *err)
{
    struct dg_memory_info info;
    const struct dg_memory_change change = {.name = b->name,
        .pairs = b->pairs.list,
        .n = b->pairs.n,
        .how = all ? DG_MEMORY_REPLACE_ALL : DG_MEMORY_MERGE};
    int rc = find(s, m, true, &info, err);
    if (rc == DG_OK)
        rc = dg_memory_alter(m, &info, &change, &info, err);
    return rc == DG_OK ? describe(m, &info, out, err) : rc;
}

/* Reads the query's source and target: both, or neither. */
static int read_languages(const struct dg_side *s, char languages[2][DG_MEMORY_LANGUAGE],
    bool *said, struct dg_error *err)
{
    static const char *const fields[] = {"source", "target", NULL};
    struct dg_json *o = dg_json_new_object();
    const char *text[2] = {NULL, NULL};
    struct dg_error why = {0};
    int rc = dg_form_read(s->request->query, strlen(s->request->query), o, err);
    if (rc == DG_OK)
        rc = dg_json_only(o, NULL, fields, err);
    for (size_t i = 0; i < 2 && rc == DG_OK; i++)
        rc = dg_json_field_string(o, NULL, fields[i], &text[i], err);
    if (rc == DG_OK && !text[0] != !text[1])
        rc = dg_error_field(err, DG_EINVAL, text[0] ? "target" : "source",
            "source and target must be given together");
    *said = text[0] != NULL;
    for (size_t i = 0; i < 2 && rc == DG_OK && *said; i++)
        if (dg_memory_language(text[i], languages[i], &why) != DG_OK)
            rc = dg_error_field(err, DG_EINVAL, fields[i], "%s: %s", fields[i], why.message);
    dg_json_free(o);
    return rc;
}

static int drop(const struct dg_side *s, struct dg_memory *m, struct dg_error *err)
{
    struct dg_memory_info info;
    char languages[2][DG_MEMORY_LANGUAGE];
    bool said;
    int rc = read_languages(s, languages, &said, err);
    if (rc == DG_OK)
        rc = find(s, m, true, &info, err);
    if (rc != DG_OK)
        return rc;
    return said ? dg_memory_remove_languages(m, info.id, languages[0], languages[1], err)
                : dg_memory_remove(m, info.id, err);
}

/* ---- handlers ---- */

static void reply(
    struct dg_http_reply *r, int rc, int status, struct dg_json *root, const struct dg_error *err)
{
    if (rc == DG_OK) {
        dg_reply_json_take(r, status, root);
        return;
    }
    dg_json_free(root);
    fail(r, err);
}

/* POST, PUT and PATCH. */
void dg_api_collection_write(const struct dg_side *s, struct dg_http_reply *r)
{
    const bool post = s->request->method[1] == 'O', put = s->request->method[1] == 'U';
    struct dg_memory_info made = {0};
    struct dg_json *root = NULL;
    struct dg_error err = {0};
    struct dg_collection_body b;
    if (!s->json) {
        dg_reply_error(r, 415, "unsupported_media_type", "Content-Type",
            "Content-Type must be application/json");
        return;
    }
    dg_collection_body_init(&b);
    int rc = dg_collection_body_read(s, kind_of(s), post || put, &b, &err);
    if (rc == DG_OK) {
        struct dg_memory *m = dg_collections_take(s->app->collections);
        rc = post ? make(s, m, &b, &made, &root, &err) : alter(s, m, &b, put, &root, &err);
        reply(r, rc, post ? 201 : 200, root, &err);
        dg_collections_give_made(s->app->collections, &made, r->status);
    } else {
        fail(r, &err);
    }
    dg_collection_body_deinit(&b);
}

void dg_api_collections_list(const struct dg_side *s, struct dg_http_reply *r)
{
    struct dg_json *root = NULL;
    struct dg_error err = {0};
    struct dg_memory *m = dg_collections_take_reader(s->app->collections);
    int rc = list(s, m, &root, &err);
    dg_collections_give_reader(s->app->collections);
    reply(r, rc, 200, root, &err);
}

void dg_api_collection_get(const struct dg_side *s, struct dg_http_reply *r)
{
    struct dg_json *root = NULL;
    struct dg_memory_info info;
    struct dg_error err = {0};
    struct dg_memory *m = dg_collections_take_reader(s->app->collections);
    int rc = find(s, m, false, &info, &err);
    if (rc == DG_OK)
        rc = describe(m, &info, &root, &err);
    dg_collections_give_reader(s->app->collections);
    reply(r, rc, 200, root, &err);
}

void dg_api_collection_remove(const struct dg_side *s, struct dg_http_reply *r)
{
    struct dg_error err = {0};
    struct dg_memory *m = dg_collections_take(s->app->collections);
    int rc = drop(s, m, &err);
    dg_collections_give(s->app->collections);
    if (rc == DG_OK)
        r->status = 204;
    else
        fail(r, &err);
}

/* Languages may be omitted for a collection that has a single language pair. */
static int write_entries(const struct dg_side *s, struct dg_memory *m, struct dg_http_reply *r,
    struct dg_buffer *out, struct dg_error *err)
{
    char languages[2][DG_MEMORY_LANGUAGE];
    struct dg_memory_info info;
    struct dg_memory_dictionary *all = NULL;
    size_t n = 0;
    bool said, has = false;
    int rc = read_languages(s, languages, &said, err);
    if (rc == DG_OK)
        rc = find(s, m, false, &info, err);
    if (rc == DG_OK)
        rc = dg_memory_dictionaries(m, info.id, &all, &n, err);
    for (size_t i = 0; i < n; i++)
        has = has || (said && !strcmp(all[i].source_lang, languages[0]) &&
                         !strcmp(all[i].target_lang, languages[1]));
    if (rc == DG_OK && !said && n != 1)
        rc = dg_error_field(err, DG_EINVAL, "source",
            "it has entries for %zu language pairs: source and target must choose one", n);
    if (rc == DG_OK && said && !has)
        rc = dg_error_field(err, DG_ENOTFOUND, "source", "there are no entries from %s to %s",
            languages[0], languages[1]);
    const char *const wanted[2] = {said || !n ? languages[0] : all[0].source_lang,
        said || !n ? languages[1] : all[0].target_lang};
    if (rc == DG_OK)
        rc = dg_entries_write(m, info.id, wanted, s->accept, &r->content_type, out, err);
    free(all);
    return rc;
}

void dg_api_collection_entries(const struct dg_side *s, struct dg_http_reply *r)
{
    struct dg_error err = {0};
    struct dg_buffer out;
    dg_buffer_init(&out);
    struct dg_memory *m = dg_collections_take_reader(s->app->collections);
    int rc = write_entries(s, m, r, &out, &err);
    dg_collections_give_reader(s->app->collections);
    if (rc == DG_OK) {
        r->status = 200;
        r->body = dg_buffer_take(&out, &r->body_len);
    } else {
        fail(r, &err);
    }
    dg_buffer_deinit(&out);
}

/* A memory's answers replace the model's, and without keys they do so for everybody: only the
 * server's owner may change one then. */
static bool may_change(struct dg_app *app, struct dg_http_exchange *x)
{
    if (app->auth || !app->collections || dg_gate_is_owner(x))
        return true;
    dg_reply_with_error(x, 403, "forbidden",
        "without API keys (--keys), memories can be changed only through the server's "
        "Unix socket (--unix-socket)");
    return false;
}

void dg_api_glossaries_list(struct dg_app *app, struct dg_http_exchange *x)
{
    if (app->collections || !dg_server_glossaries_reply(app, x))
        dg_side_run(app, x, dg_api_collections_list);
}

void dg_api_memory_write(struct dg_app *app, struct dg_http_exchange *x)
{
    if (may_change(app, x))
        dg_side_run(app, x, dg_api_collection_write);
}

void dg_api_memory_remove(struct dg_app *app, struct dg_http_exchange *x)
{
    if (may_change(app, x))
        dg_side_run(app, x, dg_api_collection_remove);
}
