/* POST /v1/alternatives: other ways to go on at one place of a translation. */
#include "server/api/answer.h"
#include "server/api/endpoints.h"
#include "server/http/reply.h"

#define DEFAULT_N 5
#define MAX_N 16

static int read(struct dg_request *r, const char *body, size_t n, const struct dg_limits *limits,
    struct dg_error *err)
{
    static const char *const allowed[] = {"text", "target_prefix", "source", "target", "n",
        "beam_size", "length_penalty", "timeout_ms", NULL};
    int64_t wanted = DEFAULT_N;
    struct dg_text prefix = {0};
    int rc = dg_request_make_items(r, 1, err);
    struct dg_item *item = r->items;
    if (rc == DG_OK)
        rc = dg_read_object(body, n, allowed, &r->body, err);
    if (rc == DG_OK)
        rc = dg_read_one_text(r->body, NULL, item, err);
    if (rc == DG_OK)
        rc = dg_read_text(r->body, NULL, "target_prefix", &prefix, err);
    if (rc == DG_OK)
        rc = dg_read_languages(r->body, NULL, item, err);
    if (rc == DG_OK)
        rc = dg_json_field_int(r->body, NULL, "n", 1, MAX_N, &wanted, err);
    if (rc == DG_OK)
        rc = dg_read_search(r->body, NULL, limits, &item->options.search, err);
    if (rc == DG_OK)
        rc = dg_read_timeout(r->body, limits->timeout_ms, &r->timeout_ms, err);
    if (rc != DG_OK)
        return rc;
    item->options.alternatives = (uint32_t)wanted;
    item->options.target_prefix = prefix.s;
    return dg_read_characters(item, NULL, limits->characters, err);
}

static int plan(const struct dg_item *item, size_t text, const struct dg_translator *t,
    const struct dg_text *read, const struct dg_translate_options *o, struct dg_job **out,
    struct dg_error *err)
{
    (void)text;
    return dg_job_plan_alternatives(t, read->s, read->len, item->options.alternatives, o, out, err);
}

static int write(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    struct dg_job *job = dg_item_last_hop(item)->jobs[0];
    struct dg_usage usage = {.source_characters = item->source_characters};
    const struct dg_answer *list;
    size_t n;
    (void)arena;
    int rc = dg_job_finish_alternatives(job, &list, &n, err);
    if (rc != DG_OK)
        return rc;
    struct dg_json *root = dg_json_new_object(), *alternatives = dg_json_new_array();
    for (size_t i = 0; i < n; i++)
        dg_json_append_take(alternatives, dg_answer_text(&list[i]));
    dg_json_set_take(root, "alternatives", alternatives);
    dg_usage_add_job(&usage, job);
    dg_json_set_take(root, "usage", dg_usage_write(&usage));
    dg_answer_put_take(root, &item->answer);
    return DG_OK;
}

const struct dg_endpoint dg_endpoint_alternatives = {
    .read = read,
    .kind = {.plan = plan, .write = write, .fail = dg_reply_failure},
};
