/* Runs texts and pairs through the model's engines: all at once, or reported as they finish. */
#include "base/array.h"
#include "library/internal.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 1024 }; /* texts of a stream that are in flight at a time */

/* ---- all at once ------------------------------------------------------------------------- */

struct counted {
    int (*progress)(void *arg, size_t finished, size_t n);
    void *arg;
    size_t finished, n;
    bool ended;
};

static int count(void *arg, size_t job, bool whole)
{
    struct counted *c = arg;
    (void)job;
    c->finished += whole;
    c->ended = c->progress(c->arg, c->finished, c->n) != 0;
    return c->ended;
}

/* Run jobs to their end, reporting progress. *failed: as of dg_runner_run_watched. */
static int run_jobs(struct dragoman_model *m, struct dg_job *const *jobs, size_t n,
    const struct dragoman_options *options, size_t *failed, struct dg_error *err)
{
    struct dragoman_options o;
    dragoman_options_init(&o, sizeof o);
    if (options)
        dg_library_take(options, options->size, &o, sizeof o, "options", err);
    struct counted c = {.progress = o.progress, .arg = o.progress_arg, .n = n};
    const struct dg_runner_watch watch = {.arg = &c, .told = count};
    for (size_t i = 0; i < n; i++) /* texts without a sentence */
        c.finished += dg_job_sentences(jobs[i]) == 0;
    if (o.progress && c.finished && o.progress(o.progress_arg, c.finished, n))
        c.ended = true;
    int rc = c.ended ? DG_ECANCELED
                     : dg_runner_run_watched(
                           m->runner, jobs, n, o.progress ? &watch : NULL, failed, err);
    if (!c.ended)
        return rc;
    *failed = SIZE_MAX;
    dg_error_clear(err);
    return dg_error_set(err, DG_ECANCELED, "a callback ended the call");
}

/* Run the jobs of all results, and read their answers. */
static int run_all(struct dragoman_model *m, struct dragoman_results *all,
    const struct dragoman_options *options, int64_t *index, struct dg_error *err)
{
    struct dg_job **jobs = malloc((all->n ? all->n : 1) * sizeof *jobs);
    if (!jobs)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu texts", all->n);
    for (size_t i = 0; i < all->n; i++)
        jobs[i] = all->list[i].job;
    size_t failed = SIZE_MAX;
    int rc = run_jobs(m, jobs, all->n, options, &failed, err);
    if (failed < all->n)
        *index = (int64_t)failed;
    free(jobs);
    for (size_t i = 0; i < all->n && !rc; i++) {
        rc = dg_library_finish(&all->list[i], err);
        if (rc)
            *index = (int64_t)i;
    }
    return rc;
}

static int encode(const struct dragoman_model *m, const struct dragoman_text *text,
    const struct dragoman_text *target, const struct dg_translate_options *o, struct dg_job **job,
    struct dg_error *err)
{
    if (!target)
        return dg_job_encode(m->translator, dg_library_bytes(text), text->size, o, job, err);
    const struct dg_text_pair pair = {
        dg_library_bytes(text), dg_library_bytes(target), text->size, target->size};
    return dg_job_encode_score(m->translator, &pair, o, job, err);
}

/* Sources with targets to score, or (NULL) sources to translate. */
struct wanted {
    const struct dragoman_text *sources, *targets;
    size_t n;
    const struct dragoman_options *options;
};

/* The options of a call: for a score, only those that apply to one. */
static int take_options(const struct dragoman_model *m, const struct wanted *w,
    struct dg_translate_options *out, struct dg_error *err)
{
    struct dragoman_options given, few;
    dragoman_options_init(&given, sizeof given);
    dragoman_options_init(&few, sizeof few);
    if (!w->targets || !w->options)
        return dg_library_options(m, w->options, out, err);
    int rc = dg_library_take(w->options, w->options->size, &given, sizeof given, "options", err);
    few.source = given.source;
    few.target = given.target;
    few.tokens = given.tokens;
    return rc ? rc : dg_library_options(m, &few, out, err);
}

static int call(struct dragoman_model *m, const struct wanted *w, struct dragoman_results **results,
    struct dragoman_error *error)
{
    struct dg_error err = {0};
    struct dg_translate_options o;
    int64_t index = -1;
    dg_library_begin(error);
    *results = NULL;
    int rc = take_options(m, w, &o, &err);
    if (rc)
        return dg_library_error(rc, &err, -1, error);
    struct dragoman_results *all = dg_library_results(w->n);
    rc = all ? DG_OK : dg_error_set(&err, DG_ENOMEM, "no memory for %zu texts", w->n);
    for (size_t i = 0; i < w->n && !rc; i++) {
        all->list[i].forced = w->targets != NULL;
        rc = encode(
            m, &w->sources[i], w->targets ? &w->targets[i] : NULL, &o, &all->list[i].job, &err);
        if (rc)
            index = (int64_t)i;
    }
    if (!rc)
        rc = run_all(m, all, w->options, &index, &err);
    if (rc) {
        dragoman_results_free(all);
        return dg_library_error(rc, &err, index, error);
    }
    *results = all;
    return DRAGOMAN_OK;
}

int dragoman_translate(struct dragoman_model *model, const struct dragoman_text *texts, size_t n,
    const struct dragoman_options *options, struct dragoman_results **results,
    struct dragoman_error *error)
{
    const struct wanted w = {texts, NULL, n, options};
    return call(model, &w, results, error);
}

int dragoman_score(struct dragoman_model *model, const struct dragoman_text *sources,
    const struct dragoman_text *targets, size_t n, const struct dragoman_options *options,
    struct dragoman_results **results, struct dragoman_error *error)
{
    static const struct dragoman_text none;
    const struct wanted w = {sources, targets ? targets : &none, n, options};
    return call(model, &w, results, error);
}

/* ---- reported as they finish ------------------------------------------------------------- */

/* A text in flight. */
struct flowing {
    struct dg_job *job;
    /* number of sentences reported, and of finished ones still to report: ready[n_ready] of cap */
    size_t told, n_ready, cap;
    struct dg_finished_part *ready;
};

struct flow {
    struct dragoman_stream stream;
    /* the texts in flight; list[0] is texts[first] */
    struct flowing list[WINDOW];
    size_t first;
    /* DG_OK: no error; a callback that ends the call sets `ended` instead */
    struct dg_error err;
    int64_t index;
    bool ended;
};

/* Note further finished sentences of job i, in the text's order. The job keeps their texts. */
static void note_sentences(void *arg, size_t i)
{
    struct flow *f = arg;
    struct flowing *t = &f->list[i];
    int rc = DG_OK;
    while (f->stream.sentence && t->told + t->n_ready < dg_job_parts(t->job) && rc == DG_OK) {
        struct dg_finished_part *ready =
            dg_array_grow(t->ready, t->n_ready, &t->cap, sizeof *ready);
        if (!ready) {
            dg_error_set(&f->err, DG_ENOMEM, "no memory for a text's sentences");
            return;
        }
        t->ready = ready;
        rc = dg_job_finish_part(t->job, t->told + t->n_ready, &ready[t->n_ready], &f->err);
        t->n_ready += !rc;
    }
}

static int tell_sentences(struct flow *f, size_t i)
{
    struct flowing *t = &f->list[i];
    int rc = 0;
    for (size_t k = 0; k < t->n_ready && !rc; k++) {
        const struct dg_finished_part *p = &t->ready[k];
        const struct dragoman_sentence s = {.source_begin = p->source_begin,
            .source_end = p->source_end,
            .score = p->score,
            .confidence = p->confidence,
            .flags = p->flags};
        rc = f->stream.sentence(f->stream.arg, f->first + i, p->text, p->len, &s);
    }
    t->told += t->n_ready;
    t->n_ready = 0;
    return rc;
}

static int tell_result(struct flow *f, size_t i)
{
    struct dragoman_result r = {.job = f->list[i].job};
    int rc = dg_library_finish(&r, &f->err);
    if (!rc && f->stream.result)
        f->ended = f->stream.result(f->stream.arg, f->first + i, &r) != 0;
    dg_job_free(r.job);
    f->list[i].job = NULL;
    return rc;
}

/* Report what is finished of job i; non-zero ends the call. */
static int tell(void *arg, size_t i, bool whole)
{
    struct flow *f = arg;
    f->ended = f->ended || tell_sentences(f, i) != 0;
    if (whole && !f->ended && f->err.code == DG_OK)
        tell_result(f, i);
    if (f->err.code != DG_OK)
        f->index = (int64_t)(f->first + i);
    return f->ended || f->err.code != DG_OK;
}

/* Translate n texts from texts[0], which is number f->first of the call. */
static int flow_some(struct dragoman_model *m, struct flow *f, const struct dragoman_text *texts,
    size_t n, const struct dg_translate_options *o)
{
    struct dg_job *jobs[WINDOW];
    const struct dg_runner_watch watch = {
        .arg = f, .accepted = f->stream.sentence ? note_sentences : NULL, .told = tell};
    size_t made = 0;
    int rc = DG_OK;
    for (; made < n && !rc; made += !rc) {
        f->list[made] = (struct flowing){.job = NULL};
        rc = encode(m, &texts[made], NULL, o, &f->list[made].job, &f->err);
        if (rc)
            f->index = (int64_t)(f->first + made);
        jobs[made] = f->list[made].job;
    }
    if (!rc) {
        struct dg_error err = {0};
        size_t failed = SIZE_MAX;
        rc = dg_runner_run_watched(m->runner, jobs, n, &watch, &failed, &err);
        if (rc && f->err.code == DG_OK) {
            f->err = err;
            f->index = failed < n && !f->ended ? (int64_t)(f->first + failed) : -1;
        }
    }
    /* Report texts without a sentence to translate. */
    for (size_t i = 0; i < made && !rc; i++)
        if (f->list[i].job) {
            note_sentences(f, i);
            rc = tell(f, i, true);
        }
    for (size_t i = 0; i < made; i++) {
        dg_job_free(f->list[i].job);
        free(f->list[i].ready);
    }
    return rc;
}

int dragoman_translate_stream(struct dragoman_model *model, const struct dragoman_text *texts,
    size_t n, const struct dragoman_options *options, const struct dragoman_stream *stream,
    struct dragoman_error *error)
{
    struct dg_translate_options o;
    struct flow *f = calloc(1, sizeof *f);
    dg_library_begin(error);
    if (!f) {
        const struct dg_error err = {.message = "no memory for a stream"};
        return dg_library_error(DG_ENOMEM, &err, -1, error);
    }
    f->index = -1;
    int rc = dg_library_take(stream, stream->size, &f->stream, sizeof f->stream, "stream", &f->err);
    if (!rc)
        rc = dg_library_options(model, options, &o, &f->err);
    for (; f->first < n && !rc; f->first += WINDOW)
        rc = flow_some(
            model, f, texts + f->first, n - f->first < WINDOW ? n - f->first : WINDOW, &o);
    if (rc && f->ended) {
        dg_error_clear(&f->err);
        dg_error_set(&f->err, DG_ECANCELED, "a callback ended the call");
    }
    rc = rc ? dg_library_error(f->err.code, &f->err, f->index, error) : DG_OK;
    free(f);
    return rc;
}
