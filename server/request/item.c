#include "server/request/item.h"

#include "base/clock.h"
#include "server/config.h"
#include "server/glossaries/collections.h"
#include "server/metrics.h"
#include "server/request/pivot_answers.h"
#include "server/request/request.h"
#include "server/request/steps.h"
#include "server/request/stream.h"
#include "text/language_code.h"
#include "translate/translator/way_back.h"

#include <stdlib.h>

struct dg_hop *dg_item_hop(struct dg_item *item)
{
    return &item->hops[atomic_load(&item->at)];
}

const struct dg_hop *dg_item_last_hop(const struct dg_item *item)
{
    return &item->hops[item->n_hops > 0 ? item->n_hops - 1 : 0];
}

/* ---- planning ---- */

/* The code that the client wrote, if it says more than the model's ("en-US" of "en"). */
static const char *exact_code(const char *asked, const char *served)
{
    return dg_language_says_more(dg_language_distance(asked, served)) ? asked : served;
}

/* Puts the entries of the item's named glossary for its languages into its options: of the exact
 * codes, else of the model's. */
static int find_entries(struct dg_item *item, struct dg_error *err)
{
    const struct dg_glossary_set *named = item->options.named_glossary;
    const char *const *pair = dg_item_last_hop(item)->pair;
    const char *sources[2] = {exact_code(item->source, pair[0]), pair[0]},
               *targets[2] = {exact_code(item->target, pair[1]), pair[1]};
    for (int i = 0; i < 4 && !item->options.glossary; i++)
        item->options.glossary = dg_glossary_set_pair(named, sources[i % 2], targets[i / 2]);
    if (!item->options.glossary)
        return dg_error_field(err, DG_EINVAL, "glossary",
            "glossary: \"%s\" has no entries for %s to %s", dg_glossary_set_name(named), pair[0],
            pair[1]);
    return DG_OK;
}

static int check_rerank(struct dg_item *item, struct dg_error *err)
{
    const struct dg_hop *last = dg_item_last_hop(item);
    struct dg_error why = {0};
    size_t back;
    int rc = dg_way_back_find(
        last->listing->bundle, &item->options.search, last->pair[0], last->pair[1], &back, &why);
    if (rc == DG_OK || item->options.rerank_if_able) {
        item->options.rerank = rc == DG_OK;
        return DG_OK;
    }
    *err = why;
    return rc;
}

/* Finds its bundles, once. Checks the options against the last model now, not after the first one's
 * work. */
static int find_bundles(struct dg_item *item, struct dg_error *err)
{
    struct dg_way way;
    struct dg_translate_options o;
    const struct dg_request *r = item->request;
    if (item->n_hops > 0)
        return DG_OK;
    int rc =
        dg_models_way(r->app->models, item->source, item->target, r->kind->may_pivot, &way, err);
    if (rc != DG_OK)
        return rc;
    for (size_t i = 0; i < way.n; i++) {
        item->hops[i].listing = way.hops[i].listing; /* the item takes over the reference */
        item->hops[i].pair[0] = way.hops[i].pair[0];
        item->hops[i].pair[1] = way.hops[i].pair[1];
    }
    item->n_hops = way.n;
    const struct dg_glossary_set *named = item->options.named_glossary;
    const struct dg_hop *last = dg_item_last_hop(item);
    if (way.n > 1 && (item->options.glossary || named))
        return dg_error_field(err, DG_EINVAL, "glossary",
            "glossary: %s is translated to %s through %s, and pivot translation does not "
            "support glossaries",
            way.hops[0].pair[0], way.hops[1].pair[1], way.hops[0].pair[1]);
    item->same_language = way.same;
    if (named && !way.same && (rc = find_entries(item, err)) != DG_OK)
        return rc;
    if (item->options.rerank && !way.same && (rc = check_rerank(item, err)) != DG_OK)
        return rc;
    return dg_request_options_plan(&item->options, &last->listing->config, last->pair, &o, err);
}

/* True: they are open, or cannot be opened. False: ready will be called when that is so. */
static bool open_models(struct dg_item *item, void (*ready)(void *item))
{
    struct dg_request *r = item->request;
    struct dg_opening *o = &item->opening;
    for (o->n = 0; o->n < item->n_hops; o->n++) {
        o->listings[o->n] = item->hops[o->n].listing;
        o->models[o->n] = &item->hops[o->n].model;
    }
    o->ended = &r->ended;
    o->err = &item->failed;
    o->ready = ready;
    o->arg = item;
    if (dg_opening_try(r->app->models, o))
        return true;
    if (!r->fed) { /* the feeder cancels those of fed requests */
        if (r->deadline_ns == 0)
            dg_request_set_deadline(r);
        atomic_store(&r->opens, true);
    }
    dg_opening_begin(r->app->models, o);
    return false;
}

bool dg_item_get_models(struct dg_item *item, void (*ready)(void *item), struct dg_error *err)
{
    const struct dg_error *failed = &item->failed;
    if (find_bundles(item, err) != DG_OK)
        return true;
    if (item->opening.n == 0 && !open_models(item, ready)) /* n > 0: it has waited */
        return false;
    if (failed->code != DG_OK && dg_request_check(item->request, err) == DG_OK)
        dg_error_field(err, failed->code, failed->field, "%s", failed->message);
    return true;
}

bool dg_item_cancel_opening(struct dg_item *item)
{
    return dg_opening_cancel(item->request->app->models, &item->opening);
}

static int check_sentences(
    const struct dg_item *item, const struct dg_hop *hop, struct dg_error *err)
{
    int64_t limit = item->request->app->config.max_sentences;
    size_t sentences = 0;
    for (size_t i = 0; i < item->n_texts; i++)
        sentences += dg_job_sentences(hop->jobs[i]);
    if (sentences <= (size_t)limit)
        return DG_OK;
    return dg_error_field(err, DG_ELIMIT, "text", "text has %zu sentences, the limit is %lld",
        sentences, (long long)limit);
}

static int plan_text(const struct dg_item *item, size_t i, struct dg_hop *hop,
    const struct dg_text *text, const struct dg_translate_options *o, struct dg_error *err)
{
    const struct dg_request_kind *kind = item->request->kind;
    const struct dg_translator *t = hop->model->translator;
    return kind->plan ? kind->plan(item, i, t, text, o, &hop->jobs[i], err)
                      : dg_job_encode(t, text->s, text->len, o, &hop->jobs[i], err);
}

/* Whose translation memories are searched, and for which languages. */
struct asker {
    struct dg_collections *collections;
    const char *owner;
    const char *const *pair;
};

static bool find_known(const void *arg, const char *s, size_t n, struct dg_buffer *out)
{
    const struct asker *a = arg;
    const struct dg_memory_pair wanted = {
        .source_lang = a->pair[0], .target_lang = a->pair[1], .source = s, .source_len = n};
    return dg_collections_find(a->collections, a->owner, &wanted, out);
}

/* Makes the jobs and the task of one hop, from the request's texts or the previous hop's answers.
 */
static int plan_hop(struct dg_item *item, size_t at, struct dg_error *err)
{
    struct dg_request *r = item->request;
    struct dg_hop *hop = &item->hops[at];
    bool last = at + 1 == item->n_hops;
    struct dg_request_options options =
        last ? item->options : dg_request_options_first(&item->options);
    struct dg_translate_options o;
    uint64_t begin = dg_clock_ns();
    hop->jobs = calloc(item->n_texts, sizeof(struct dg_job *));
    if (!hop->jobs)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu texts", item->n_texts);
    int rc = dg_request_options_plan(&options, &hop->listing->config, hop->pair, &o, err);
    o.same_language = item->same_language;
    o.max_beam = (uint32_t)r->app->config.max_beam;
    o.check = dg_request_check_any;
    o.check_arg = r;
    const struct asker asker = {r->app->collections, r->owner, hop->pair};
    const struct dg_known known = {find_known, &asker};
    if (item->n_hops == 1 && !r->kind->plan && !item->options.no_memory &&
        dg_collections_has_sentences(r->app->collections))
        o.known = &known;
    for (size_t i = 0; i < item->n_texts && rc == DG_OK; i++) {
        struct dg_text text = item->texts[i];
        if (at > 0)
            text = (struct dg_text){hop[-1].read[i].best[0].text, hop[-1].read[i].best[0].len};
        rc = plan_text(item, i, hop, &text, &o, err);
    }
    if (rc == DG_OK && at == 0)
        rc = check_sentences(item, hop, err);
    if (rc == DG_OK)
        rc = dg_task_open(hop->model, hop->jobs, item->n_texts, &hop->task, err);
    if (rc == DG_OK && last && r->stream)
        rc = dg_stream_plan(r->stream, item, err);
    dg_metrics_observe(
        r->app->metrics, DG_TIME_STAGE, DG_STAGE_TOKENIZE, (double)(dg_clock_ns() - begin) / 1e9);
    return rc;
}

int dg_item_plan(struct dg_item *item, struct dg_error *err)
{
    const struct dg_request_kind *kind = item->request->kind;
    int rc = kind->check ? kind->check(item, err) : DG_OK;
    return rc == DG_OK && !kind->work ? plan_hop(item, 0, err) : rc;
}

bool dg_item_goes_on(const struct dg_item *item)
{
    size_t at = atomic_load(&item->at);
    return at + 1 < item->n_hops && !dg_task_over(item->hops[at].task);
}

int dg_item_plan_next(struct dg_item *item, struct dg_error *err)
{
    size_t at = atomic_load(&item->at);
    struct dg_hop *hop = &item->hops[at];
    int rc = dg_request_check(item->request, err);
    if (rc != DG_OK)
        return rc;
    hop->read = calloc(item->n_texts, sizeof *hop->read);
    if (!hop->read)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu texts", item->n_texts);
    for (size_t i = 0; i < item->n_texts && rc == DG_OK; i++)
        rc = dg_job_finish(hop->jobs[i], &hop->read[i], err);
    if (rc == DG_OK)
        rc = plan_hop(item, at + 1, err);
    if (rc == DG_OK)
        atomic_store(&item->at, at + 1); /* last: from here on other threads read the hop */
    return rc;
}

/* ---- the end ---- */

int dg_item_outcome(const struct dg_item *item, struct dg_error *err)
{
    const struct dg_task *t = item->hops[atomic_load(&item->at)].task;
    const struct dg_error *why = item->wrong ? item->wrong : &item->failed;
    if (item->answered)
        return DG_OK;
    if (why->code == DG_OK && t && atomic_load(&t->outcome) == DG_TASK_FAILED)
        why = &t->error;
    if (why->code == DG_OK) /* all other early ends are the request's, or the server's */
        return dg_request_check(item->request, err);
    *err = *why;
    return err->code;
}

int dg_item_answers(struct dg_item *item, size_t i, struct dg_arena *arena, struct dg_answers *out,
    struct dg_error *err)
{
    const struct dg_hop *last = dg_item_last_hop(item);
    int rc = dg_job_finish(last->jobs[i], out, err);
    if (rc == DG_OK && item->n_hops > 1)
        rc = dg_pivot_answers_map(&item->hops[0].read[i], arena, out, err);
    return rc;
}

size_t dg_item_bytes(const struct dg_item *item)
{
    size_t n = 0;
    for (size_t i = 0; i < item->n_texts; i++)
        n += item->texts[i].len;
    return n;
}

static size_t hop_memory(const struct dg_hop *hop, size_t n_texts)
{
    size_t n = 0, entries = 1;
    for (size_t i = 0; hop->jobs && i < n_texts; i++) {
        n += sizeof *hop->jobs + dg_job_memory(hop->jobs[i]);
        entries += dg_job_sentences(hop->jobs[i]);
    }
    if (hop->task)
        n += sizeof *hop->task + entries * sizeof *hop->task->entries;
    return n + (hop->read ? n_texts * sizeof *hop->read : 0);
}

int dg_item_take(struct dg_item *item, struct dg_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < item->n_hops; i++)
        n += hop_memory(&item->hops[i], item->n_texts);
    if (n <= item->taken)
        return DG_OK;
    int rc = dg_request_reserve(item->request, n - item->taken, err);
    if (rc == DG_OK)
        item->taken = n;
    return rc;
}

static void release_hop(struct dg_hop *hop, size_t n_texts)
{
    dg_task_free(hop->task);
    for (size_t i = 0; hop->jobs && i < n_texts; i++)
        dg_job_free(hop->jobs[i]);
    free(hop->jobs);
    free(hop->read);
    dg_opening_done(hop->model);
    dg_served_unref(hop->model);
    dg_listing_unref(hop->listing);
    *hop = (struct dg_hop){0};
}

void dg_item_release(struct dg_item *item)
{
    for (size_t i = 0; i < item->n_hops; i++)
        release_hop(&item->hops[i], item->n_texts);
    item->n_hops = 0;
    dg_buffer_deinit(&item->answer);
    if (item->taken > 0)
        dg_budget_give(&item->request->app->budget, item->taken);
    item->taken = 0;
}
