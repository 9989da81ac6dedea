/* POST /v1/alternatives: other continuations at one position of a translation. */
#include "server/api/answer.h"
#include "server/api/endpoints.h"
#include "server/http/reply.h"

static int plan(const struct dg_item *item, size_t text, const struct dg_translator *t,
    const struct dg_text *read, const struct dg_translate_options *o, struct dg_job **out,
    struct dg_error *err)
{
    (void)text;
    return dg_job_encode_alternatives(
        t, read->s, read->len, item->options.alternatives, o, out, err);
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
    .fields = {DG_BODY_TEXT, DG_BODY_GIVEN_PREFIX, DG_BODY_LANGUAGES, DG_BODY_N, DG_BODY_SEARCH,
        DG_BODY_TIMEOUT_MS},
    .kind = {.plan = plan, .write = write, .fail = dg_reply_failure},
};
