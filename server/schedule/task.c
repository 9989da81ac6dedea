#include "server/schedule/task.h"

#include "server/schedule/answer_cache.h"

#include <stdlib.h>
#include <string.h>

/* splitmix64's finalizer. */
static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) + UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ (h >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94D049BB133111EB);
    return h ^ (h >> 31);
}

static uint64_t key_of(const struct dg_sentence *s)
{
    uint64_t h = mix(s->n_source, s->n_prefix);
    for (uint32_t i = 0; i < s->n_source; i++)
        h = mix(h, (uint32_t)s->source[i]);
    for (uint32_t i = 0; i < s->n_prefix; i++)
        h = mix(h, (uint32_t)s->prefix[i]);
    for (uint32_t i = 0; s->terms && i < s->terms->n_ids; i++)
        h = mix(h, (uint32_t)s->terms->ids[i]);
    return h | 1;
}

static bool same_ids(const int32_t *a, uint32_t n, const int32_t *b, uint32_t m)
{
    return n == m && (n == 0 || memcmp(a, b, n * sizeof *a) == 0);
}

/* Options are compared as bytes: padding that differs costs a duplicate, never a wrong answer. */
bool dg_entry_same(const struct dg_entry *a, const struct dg_entry *b)
{
    struct dg_sentence x, y;
    if (a->key == 0 || a->key != b->key || a->task->model != b->task->model)
        return false;
    dg_job_sentence(a->job, a->index, &x);
    dg_job_sentence(b->job, b->index, &y);
    return same_ids(x.source, x.n_source, y.source, y.n_source) &&
           same_ids(x.prefix, x.n_prefix, y.prefix, y.n_prefix) &&
           memcmp(&x.search, &y.search, sizeof x.search) == 0 && x.forced == y.forced &&
           x.n_lead == y.n_lead && x.spelling == y.spelling &&
           x.want_alignment == y.want_alignment && x.whole_vocabulary == y.whole_vocabulary &&
           dg_terms_same(x.terms, y.terms);
}

static void fill_entry(struct dg_task *t, struct dg_job *job, uint32_t index, struct dg_entry *e)
{
    struct dg_sentence s;
    uint32_t most, beam = dg_model_config(dg_translator_model(t->model->translator))->beam;
    dg_job_sentence(job, index, &s);
    e->task = t;
    e->job = job;
    e->index = index;
    dg_job_cost(job, index, &e->source_tokens, &most);
    e->rows = s.forced ? 1 : s.search.beam > 0 ? s.search.beam : beam;
    e->key = key_of(&s);
}

static const char *version_of(const struct dg_served *model)
{
    return dg_bundle_version(dg_translator_bundle(model->translator));
}

/* True: the sentence's answer was in the cache, and its job has it now. If the first answer calls
 * for a second round, its answer may be cached, too; otherwise the sentence now waits for that one.
 */
static bool recall(const struct dg_served *model, struct dg_job *job, uint32_t index)
{
    int rc = dg_answer_cache_is_on(model->cache) ? DG_EAGAIN : DG_ENOMEM;
    while (rc == DG_EAGAIN) {
        struct dg_sentence s;
        dg_job_sentence(job, index, &s);
        if (!dg_answer_cache_takes(&s))
            return false;
        const struct dg_result *r = dg_answer_cache_get(model->cache, version_of(model), &s);
        rc = r ? dg_job_accept(job, index, r, NULL) : DG_ENOMEM;
        dg_answer_cache_release(model->cache, r);
    }
    return rc == DG_OK;
}

int dg_task_open(struct dg_served *model, struct dg_job *const *jobs, size_t n,
    struct dg_task **out, struct dg_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += dg_job_sentences(jobs[i]);
    struct dg_task *t = calloc(1, sizeof *t);
    struct dg_entry *entries = calloc(count > 0 ? count : 1, sizeof *entries);
    if (!t || !entries) {
        free(t);
        free(entries);
        return dg_error_set(err, DG_ENOMEM, "no memory for a request of %zu sentences", count);
    }
    dg_served_ref(model);
    t->model = model;
    t->entries = entries;
    pthread_mutex_init(&t->lock, NULL);
    for (size_t i = 0; i < n; i++)
        for (uint32_t s = 0; s < dg_job_sentences(jobs[i]); s++)
            if (!recall(model, jobs[i], s))
                fill_entry(t, jobs[i], s, &entries[t->n_entries++]);
    t->n_left = t->n_entries;
    *out = t;
    return DG_OK;
}

void dg_task_free(struct dg_task *t)
{
    if (!t)
        return;
    dg_served_unref(t->model);
    pthread_mutex_destroy(&t->lock);
    free(t->entries);
    free(t);
}

void dg_task_end(struct dg_task *t, enum dg_outcome outcome, const struct dg_error *err)
{
    int running = DG_TASK_OK;
    pthread_mutex_lock(&t->lock);
    if (atomic_compare_exchange_strong(&t->outcome, &running, (int)outcome) && err)
        t->error = *err;
    pthread_mutex_unlock(&t->lock);
}

bool dg_task_over(const struct dg_task *t)
{
    return atomic_load(&t->outcome) != DG_TASK_OK;
}

static void keep_times(struct dg_task *t, const struct dg_entry_times *times)
{
    uint64_t queue_ns = times->admitted_ns - t->submitted_ns;
    uint64_t encode_ns = times->encoded_ns - times->admitted_ns;
    if (queue_ns > t->queue_ns)
        t->queue_ns = queue_ns;
    if (encode_ns > t->encode_ns)
        t->encode_ns = encode_ns;
    if (t->first_admitted_ns == 0 || times->admitted_ns < t->first_admitted_ns)
        t->first_admitted_ns = times->admitted_ns;
    if (times->finished_ns > t->last_finished_ns)
        t->last_finished_ns = times->finished_ns;
}

/* Caches the answer to the sentence as it was asked. */
static void keep_answer(const struct dg_entry *e, const struct dg_result *r)
{
    const struct dg_served *model = e->task->model;
    struct dg_sentence s;
    if (!dg_answer_cache_is_on(model->cache))
        return;
    dg_job_sentence(e->job, e->index, &s);
    if (r->n_hyps && dg_answer_cache_takes(&s))
        dg_answer_cache_put(model->cache, version_of(model), &s, r);
}

bool dg_task_accept(
    const struct dg_entry *e, const struct dg_result *r, const struct dg_entry_times *times)
{
    struct dg_task *t = e->task;
    struct dg_error err = {0};
    keep_answer(e, r); /* before it is accepted, which may change the sentence and reuse its ids */
    pthread_mutex_lock(&t->lock); /* two workers may hold sentences of one job */
    int rc = dg_job_accept(e->job, e->index, r, &err);
    if (rc != DG_EAGAIN)
        keep_times(t, times);
    pthread_mutex_unlock(&t->lock);
    if (rc == DG_EAGAIN)
        return false;
    if (rc != DG_OK)
        dg_task_end(t, DG_TASK_FAILED, &err);
    else if (t->progress)
        t->progress(t->arg);
    return true;
}

void dg_task_settle(struct dg_task *t)
{
    pthread_mutex_lock(&t->lock);
    const bool last = --t->n_left == 0;
    pthread_mutex_unlock(&t->lock);
    if (last)
        t->done(t->arg);
}
