/* Verbs that let a model make or judge training text: backtranslate and filter. */
#include "trainer/verbs/synthetic.h"

#include "base/alloc.h"
#include "trainer/synthetic/filtered.h"
#include "trainer/verbs/pair.h"
#include "trainer/verbs/stop.h"
#include "trainer/verbs/verbs.h"
#include "weights/bundle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dg_synthetic_model_free(struct dg_synthetic_model *m)
{
    free(m->from);
    free(m->to);
    free(m->name);
    free(m->version);
    free(m->licence);
}

static bool has_pair(const struct dg_bundle *b, const char *from, const char *to)
{
    for (size_t i = 0; i < dg_bundle_pairs(b); i++) {
        const char *source, *target;
        dg_bundle_pair(b, i, &source, &target);
        if (!strcmp(source, from) && !strcmp(target, to))
            return true;
    }
    return false;
}

int dg_synthetic_model_read(
    const struct dg_args *a, struct dg_synthetic_model *m, struct dg_error *err)
{
    struct dg_bundle *b = NULL;
    const char *from = NULL, *to = NULL;
    memset(m, 0, sizeof *m);
    int rc = dg_bundle_open(a->words[0], &b, err);
    if (rc)
        return rc;
    rc = dg_pair_find(b, a->from, a->to, &from, &to, err);
    if (!rc) {
        m->from = dg_alloc_string(from);
        m->to = dg_alloc_string(to);
        m->name = dg_alloc_string(dg_bundle_name(b));
        m->version = dg_alloc_string(dg_bundle_version(b));
        m->licence = dg_alloc_string(dg_bundle_licence(b) ? dg_bundle_licence(b) : "");
        m->back = has_pair(b, to, from);
    }
    dg_bundle_close(b);
    return rc;
}

struct dg_bulk_options dg_synthetic_model_options(
    const struct dg_args *a, const struct dg_synthetic_model *m)
{
    return (struct dg_bulk_options){.bundle = a->words[0],
        .source_lang = m->from,
        .target_lang = m->to,
        .threads = (int)a->threads,
        .beam = a->beam_size,
        .alpha = (float)a->length_penalty};
}

void dg_synthetic_print(const struct dg_translated *t, const char *text, const char *translation)
{
    printf("%s, %s: %" PRIu64 " pairs of %" PRIu64 " lines (%" PRIu64 " are no text, %" PRIu64
           " the model did not manage)\n",
        text, translation, t->kept, t->read, t->no_text, t->failed);
    fflush(stdout);
}

int dg_verb_backtranslate(const struct dg_args *a, struct dg_error *err)
{
    struct dg_synthetic_model m;
    struct dg_translated done;
    int rc = dg_synthetic_model_read(a, &m, err);
    char *text = rc ? NULL : dg_alloc_print("%s.%s", a->out, m.from),
         *made = rc ? NULL : dg_alloc_print("%s.%s", a->out, m.to);
    if (!rc) {
        const struct dg_translated_options o = {.model = dg_synthetic_model_options(a, &m),
            .text = a->words[1],
            .lines = a->lines,
            .out_text = text,
            .out_translation = made,
            .quiet = a->quiet,
            .stop = dg_stop_flag()};
        dg_stop_watch();
        rc = dg_translated_write(&o, &done, err);
    }
    if (!rc) {
        dg_synthetic_print(&done, text, made);
        printf("in a recipe that trains %s to %s:\n"
               "  {\"source\": \"%s\", \"target\": \"%s\", \"back_translated\": \"source\"}\n",
            m.to, m.from, made, text);
    }
    free(text);
    free(made);
    dg_synthetic_model_free(&m);
    return rc;
}

int dg_verb_filter(const struct dg_args *a, struct dg_error *err)
{
    struct dg_synthetic_model m;
    struct dg_filtered done;
    int rc = dg_synthetic_model_read(a, &m, err);
    char *source = rc ? NULL : dg_alloc_print("%s.%s", a->out, m.from),
         *target = rc ? NULL : dg_alloc_print("%s.%s", a->out, m.to),
         *scores = rc ? NULL : dg_alloc_print("%s.scores", a->out);
    if (!rc) {
        struct dg_filtered_options o = {.forward = dg_synthetic_model_options(a, &m),
            .source = a->words[1],
            .target = a->words[2],
            .out_source = source,
            .out_target = target,
            .out_scores = scores,
            .keep = a->keep,
            .quiet = a->quiet,
            .stop = dg_stop_flag()};
        if (m.back) {
            o.back = o.forward;
            o.back.source_lang = m.to;
            o.back.target_lang = m.from;
        }
        dg_stop_watch();
        rc = dg_filtered_write(&o, &done, err);
    }
    if (!rc)
        printf(
            "%s, %s: %" PRIu64 " of %" PRIu64 " pairs kept (%" PRIu64
            " have no score: no text, or too long)\n"
            "score (%s): limit %.3f; mean %.3f of the kept pairs, %.3f of the others; all in %s\n",
            source, target, done.kept, done.read, done.unscored,
            m.back ? "dual conditional cross-entropy" : "nats a token", done.limit, done.mean_kept,
            done.mean_dropped, scores);
    free(source);
    free(target);
    free(scores);
    dg_synthetic_model_free(&m);
    return rc;
}
