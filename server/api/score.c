/* POST /v1/score: how likely given translations are for the model. */
#include "server/api/answer.h"
#include "server/api/endpoints.h"
#include "server/http/reply.h"

static int plan(const struct dg_item *item, size_t text, const struct dg_translator *t,
    const struct dg_text *read, const struct dg_translate_options *o, struct dg_job **out,
    struct dg_error *err)
{
    const struct dg_text *given = &item->given[text];
    const struct dg_text_pair pair = {read->s, given->s, read->len, given->len};
    return dg_job_encode_score(t, &pair, o, out, err);
}

static struct dg_json *describe(const struct dg_scored *s)
{
    struct dg_json *o = dg_json_new_object(), *tokens = dg_json_new_array();
    for (size_t i = 0; i < s->n; i++) {
        struct dg_json *token = dg_json_new_object();
        dg_json_set_string(token, "token", s->tokens[i]);
        dg_answer_score(token, "logprob", (double)s->logprob[i]);
        dg_json_append_take(tokens, token);
    }
    dg_answer_score(o, "score", s->total);
    dg_json_set_take(o, "tokens", tokens);
    return o;
}

static int write(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    const struct dg_hop *hop = dg_item_last_hop(item);
    struct dg_json *root = dg_json_new_object(), *list = dg_json_new_array();
    struct dg_usage usage = {.source_characters = item->source_characters};
    int rc = DG_OK;
    (void)arena;
    for (size_t i = 0; i < item->n_texts && rc == DG_OK; i++) {
        struct dg_scored s;
        rc = dg_job_finish_score(hop->jobs[i], &s, err);
        if (rc == DG_OK)
            dg_json_append_take(list, describe(&s));
        dg_usage_add_job(&usage, hop->jobs[i]);
    }
    dg_json_set_take(root, "scores", list);
    dg_json_set_take(root, "usage", dg_usage_write(&usage));
    dg_answer_put_take(root, &item->answer);
    return rc;
}

const struct dg_endpoint dg_endpoint_score = {
    .fields = {DG_BODY_TEXTS, DG_BODY_GIVEN, DG_BODY_LANGUAGES, DG_BODY_TIMEOUT_MS},
    .kind = {.plan = plan, .write = write, .fail = dg_reply_failure},
};
