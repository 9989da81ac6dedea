/* Verbs that score: evaluate, calibrate and bleu. */
#include "trainer/verbs/verbs.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "trainer/data/corpus.h"
#include "trainer/score/bleu.h"
#include "trainer/score/bootstrap.h"
#include "trainer/score/calibrate.h"
#include "trainer/score/chrf.h"
#include "trainer/score/evaluate.h"
#include "trainer/verbs/pair.h"
#include "trainer/verbs/sets.h"
#include "trainer/verbs/stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void print_scores(const struct dg_bleu *bleu, const struct dg_chrf *chrf)
{
    struct dg_buffer text;
    dg_buffer_init(&text);
    dg_bleu_print(bleu, &text);
    dg_buffer_adds(&text, "\n");
    dg_chrf_print(chrf, &text);
    if (text.data)
        puts(text.data);
    dg_buffer_deinit(&text);
}

static void print_json(const struct dg_evaluated *e)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_int(o, "lines", (int64_t)e->lines);
    dg_json_set_real(o, "bleu", dg_bleu_score(&e->bleu));
    dg_json_set_string(o, "bleu_signature", dg_bleu_signature());
    dg_json_set_real(o, "chrf", dg_chrf_score(&e->chrf));
    dg_json_set_string(o, "chrf_signature", dg_chrf_signature());
    dg_json_set_int(o, "pieces", (int64_t)e->pieces);
    dg_json_set_int(o, "unscored", (int64_t)e->unscored);
    dg_json_set_real(o, "nll", e->nll / (double)e->pieces);
    dg_json_set_real(o, "perplexity", exp(e->nll / (double)e->pieces));
    dg_json_set_real(o, "seconds", e->seconds);
    dg_verb_print_json_take(o, 0);
}

static void print_perplexity(const struct dg_evaluated *e)
{
    const double nats = e->nll / (double)e->pieces;
    printf("%zu lines", (size_t)e->lines);
    if (e->pieces)
        printf(", perplexity %.3f per piece (%.4f nats)", exp(nats), nats);
    if (e->unscored)
        printf(", %zu without perplexity: longer than %d tokens or the model's positions",
            (size_t)e->unscored, DG_EVALUATE_TOKENS);
    puts("");
}

static int evaluate(const struct dg_args *a, const char *from, const char *to, struct dg_error *err)
{
    struct dg_evaluated e;
    struct dg_evaluate_text o = {.bundle = a->words[0],
        .set = {a->words[1], a->words[2], from, to},
        .lines = a->lines,
        .threads = (int)a->threads,
        .beam = a->beam_size,
        .alpha = (float)a->length_penalty,
        .score = true};
    int rc = dg_evaluate_text(&o, &e, err);
    if (rc)
        return rc;
    if (a->json) {
        print_json(&e);
        return 0;
    }
    print_perplexity(&e);
    print_scores(&e.bleu, &e.chrf);
    return 0;
}

int dg_verb_evaluate(const struct dg_args *a, struct dg_error *err)
{
    struct dg_bundle *b = NULL;
    const char *from, *to;
    int rc = dg_bundle_open(a->words[0], &b, err);
    if (!rc)
        rc = dg_pair_find(b, a->from, a->to, &from, &to, err);
    if (!rc)
        rc = evaluate(a, from, to, err);
    dg_bundle_close(b);
    return rc;
}

static void print_line(const struct dg_buffer *b)
{
    puts(b->data && !b->failed ? b->data : "");
    fflush(stdout);
}

static void print_trial(
    void *arg, const struct dg_calibrated_pair *pair, const struct dg_calibrate_trial *t)
{
    struct dg_buffer b;
    (void)arg;
    dg_buffer_init(&b);
    dg_calibrate_say_trial(pair, t, &b);
    print_line(&b);
    dg_buffer_deinit(&b);
}

static void print_calibrated(const struct dg_calibrated *c)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_calibrate_say_chosen(c, &b);
    print_line(&b);
    dg_buffer_deinit(&b);
    if (c->kept_confidence)
        printf("low confidence: %.3f as before: %llu sentences with chrF of %d are too few\n",
            (double)c->low_confidence, (unsigned long long)c->good, DG_CALIBRATE_GOOD);
    else
        printf("low confidence: %.3f flags %llu of %llu sentences, of %llu with chrF of %d or more "
               "%llu\n",
            (double)c->low_confidence, (unsigned long long)c->flagged,
            (unsigned long long)c->sentences, (unsigned long long)c->good, DG_CALIBRATE_GOOD,
            (unsigned long long)c->good_flagged);
}

int dg_verb_calibrate(const struct dg_args *a, struct dg_error *err)
{
    struct dg_sets sets = {0};
    struct dg_calibrated c = {0};
    int rc = dg_sets_read(a->words + 1, a->n_words - 1, &sets, err);
    if (!rc)
        rc = dg_sets_match(&sets, a->words[0], err);
    const struct dg_calibrate_options o = {.bundle = a->words[0],
        .sets = sets.list,
        .n_sets = sets.n,
        .lines = a->lines,
        .threads = (int)a->threads,
        .tried = a->quiet ? NULL : print_trial,
        .stop = dg_stop_flag()};
    dg_stop_watch();
    if (!rc)
        rc = dg_calibrate(&o, &c, err);
    if (!rc)
        rc = dg_calibrate_seal(a->words[0], &c, err);
    if (!rc)
        print_calibrated(&c);
    dg_calibrated_free(&c);
    dg_sets_free(&sets);
    return rc;
}

/* Scores of both translations of every line; grows as lines are read. */
struct compared {
    struct dg_bootstrap_line *lines;
    size_t n, cap;
};

static void compare_line(struct compared *c, const struct dg_line line[3])
{
    c->lines = dg_alloc_grow(c->lines, c->n + 1, &c->cap, sizeof *c->lines, "lines to compare");
    struct dg_bootstrap_line *out = &c->lines[c->n++];
    const struct dg_line *ref = &line[1];
    *out = (struct dg_bootstrap_line){0};
    for (size_t s = 0; s < 2; s++) {
        const struct dg_line *hyp = &line[2 * s];
        dg_bleu_add(&out->bleu[s], hyp->text, hyp->len, ref->text, ref->len);
        dg_chrf_add(&out->chrf[s], hyp->text, hyp->len, ref->text, ref->len);
    }
}

static void print_compared(const struct compared *c)
{
    struct dg_bootstrap_result r[2];
    const char *const names[] = {"BLEU", "chrF2"};
    dg_bootstrap(c->lines, c->n, &r[0], &r[1]);
    for (size_t i = 0; i < 2; i++)
        printf("%-5s  %.2f +- %.2f   others %.2f +- %.2f   difference %+.2f, p = %.4f (%s)\n",
            names[i], r[i].score[0], r[i].spread[0], r[i].score[1], r[i].spread[1],
            r[i].score[0] - r[i].score[1], r[i].p, r[i].p < 0.05 ? "significant" : "may be chance");
}

int dg_verb_bleu(const struct dg_args *a, struct dg_error *err)
{
    struct dg_bleu bleu = {{0}, {0}, 0, 0};
    struct dg_chrf chrf = {{0}, {0}, {0}};
    struct compared compared = {0};
    struct dg_corpus *corpus = NULL;
    struct dg_line lines[3];
    int got = 1, rc = dg_corpus_open(a->words, a->n_words, &corpus, err);
    while (!rc && (got = dg_corpus_next_text(corpus, lines, err)) > 0) {
        dg_bleu_add(&bleu, lines[0].text, lines[0].len, lines[1].text, lines[1].len);
        dg_chrf_add(&chrf, lines[0].text, lines[0].len, lines[1].text, lines[1].len);
        if (a->n_words == 3)
            compare_line(&compared, lines);
    }
    if (!rc && got < 0)
        rc = got;
    if (!rc)
        print_scores(&bleu, &chrf);
    if (!rc && compared.n)
        print_compared(&compared);
    free(compared.lines);
    dg_corpus_close(corpus);
    return rc;
}
