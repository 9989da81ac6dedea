/* POST /suggest: a better translation than the server's, kept for the operator (--suggestions). */
#include "base/clock.h"
#include "server/api/answer.h"
#include "server/api/libretranslate/languages.h"
#include "server/api/libretranslate/libretranslate.h"
#include "server/api/libretranslate/parameters.h"
#include "store/suggestions.h"
#include "text/utf8.h"

#include <string.h>

static int check_length(const char *text, size_t limit, struct dg_error *err)
{
    return dg_lt_check_size(dg_utf8_count(text, strlen(text)), limit, err);
}

static int read(struct dg_request *r, const struct dg_limits *limits, struct dg_error *err)
{
    bool form;
    if (!r->app->suggestions)
        return dg_error_set(err, DG_EUNSUP, "Suggestions are disabled on this server.");
    struct dg_suggestion *s = dg_arena_alloc(&r->arena, sizeof *s);
    if (!s)
        return dg_error_set(err, DG_ENOMEM, "no memory for a request");
    *s = (struct dg_suggestion){.created_s = (int64_t)dg_clock_wall_s()};
    int rc = dg_lt_read(r, &form, err);
    if (rc == DG_OK)
        rc = dg_lt_string(r->body, "q", &s->text, err);
    if (rc == DG_OK)
        rc = dg_lt_string(r->body, "s", &s->translation, err);
    if (rc == DG_OK)
        rc = dg_lt_string(r->body, "source", &s->source, err);
    if (rc == DG_OK)
        rc = dg_lt_string(r->body, "target", &s->target, err);
    if (rc == DG_OK)
        rc = dg_lt_languages(r->app->models, &s->source, &s->target, err);
    if (rc == DG_OK)
        rc = check_length(s->text, limits->characters, err);
    if (rc == DG_OK)
        rc = check_length(s->translation, limits->characters, err);
    r->extra = s;
    return rc == DG_OK ? dg_request_make_items(r, 1, err) : rc;
}

/* On the thread for files: another program may keep the file locked for seconds. */
static int keep(struct dg_item *item, struct dg_error *err)
{
    const struct dg_request *r = item->request;
    return dg_suggestions_add(r->app->suggestions, r->extra, err);
}

static int write(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    struct dg_json *o = dg_json_new_object();
    (void)arena;
    (void)err;
    dg_json_set_bool(o, "success", true);
    dg_answer_put_take(o, &item->answer);
    return DG_OK;
}

/* 403 if suggestions are disabled. */
static void fail(struct dg_http_reply *r, const struct dg_error *err)
{
    if (err->code == DG_EUNSUP)
        dg_libretranslate.refuse(r, 403, err->message);
    else
        dg_libretranslate_fail(r, err);
}

const struct dg_endpoint dg_libretranslate_suggest = {
    .read = read,
    .kind = {.at_once = true, .work = keep, .brief = true, .write = write, .fail = fail},
};
