/* dragoman-train: from text files to a model that dragoman-server loads. */
#include "base/file.h"
#include "kernels/device.h"
#include "trainer/args.h"
#include "trainer/data/batches.h"
#include "trainer/score/bleu.h"
#include "trainer/score/calibrate.h"
#include "trainer/score/chrf.h"
#include "trainer/data/corpus.h"
#include "trainer/detect/detector.h"
#include "trainer/score/evaluate.h"
#include "trainer/run/plot.h"
#include "trainer/prepare/prepare.h"
#include "trainer/data/prepared.h"
#include "trainer/recipe/recipe.h"
#include "trainer/run/run.h"
#include "trainer/align/shortlist.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The only mutable global: a signal handler can reach nothing else. */
static volatile sig_atomic_t stop_signal;
static volatile int stop_requested;

static void on_signal(int number)
{
    stop_signal = number;
    stop_requested = 1;
    signal(number, SIG_DFL); /* a second one ends at once */
}

static void watch_signals(void)
{
    struct sigaction sa = {.sa_handler = on_signal};
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGINT, &sa, NULL);
    if (dg_ranks_launched() > 1)
        sigaction(SIGUSR1, &sa, NULL); /* the one that mpirun passes on and does not follow up */
}

/* Its words, before anything is made; whether it can be had is seen when the run begins. */
static int check_device(const struct dg_args *a, struct dg_error *err)
{
    const struct dg_device_options wish = {.device = a->device, .precision = a->precision};
    return dg_ranks_launched() > 1 ? dg_devices_check(&wish, err) : dg_device_check(&wish, err);
}

static int load_recipe(const struct dg_args *a, struct dg_recipe **out, struct dg_error *err)
{
    return dg_recipe_load(
        a->words[0], a->data ? a->data : "", a->settings.items, a->settings.n, out, err);
}

static int verb_recipe(const struct dg_args *a, struct dg_error *err)
{
    struct dg_recipe *r = NULL;
    struct dg_buffer text;
    dg_buffer_init(&text);
    int rc = load_recipe(a, &r, err);
    if (!rc && a->describe) {
        struct dg_json *list = dg_recipe_describe();
        rc = dg_json_write(list, 2, &text);
        dg_json_free(list);
    } else if (!rc) {
        rc = dg_recipe_print(r, &text);
    }
    if (!rc)
        puts(text.data);
    dg_buffer_deinit(&text);
    dg_recipe_free(r);
    return rc;
}

static int verb_prepare(const struct dg_args *a, struct dg_error *err)
{
    struct dg_recipe *r = NULL;
    struct dg_prepared *p = NULL;
    struct dg_buffer text;
    dg_buffer_init(&text);
    int rc = load_recipe(a, &r, err);
    struct dg_prepare_options o = {.dir = a->out,
        .threads = (int)a->threads,
        .force = a->force,
        .quiet = a->quiet,
        .stop = &stop_requested};
    watch_signals();
    if (!rc)
        rc = dg_prepare(r, &o, NULL, err);
    if (!rc)
        rc = dg_prepared_open(a->out, &p, err);
    if (!rc)
        rc = dg_prepared_table(p, &text);
    if (!rc)
        fputs(text.data, stdout);
    dg_buffer_deinit(&text);
    dg_prepared_close(p);
    dg_recipe_free(r);
    return rc;
}

/* For a shell. */
static void add_word(struct dg_buffer *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%";
    const bool quoted = !word[0] || word[strspn(word, plain)];
    dg_buffer_adds(b, quoted ? " '" : " ");
    for (const char *p = word; *p; p++)
        dg_buffer_add(b, *p == '\'' ? "'\\''" : p, *p == '\'' ? 4 : 1);
    dg_buffer_adds(b, quoted ? "'" : "");
}

static void add_option(struct dg_buffer *b, const char *name, const char *value)
{
    if (!value)
        return;
    dg_buffer_addf(b, " %s", name);
    add_word(b, value);
}

/* How to go on as before: with what was asked for on the command line and is not kept in the run's
 * folder, which has the recipe, and where the prepared data lay when the run began. */
static void tell_resume(const struct dg_run_options *o)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    add_word(&b, o->dir);
    add_option(&b, "--device", o->device);
    add_option(&b, "--precision", o->precision);
    add_option(&b, "--prepared", o->resume ? o->prepared : NULL);
    if (o->no_scores)
        dg_buffer_adds(&b, " --no-scores");
    fprintf(stderr, "stopped by signal %d; go on with: dragoman-train resume%s\n", (int)stop_signal,
        b.data && !b.failed ? b.data : "");
    dg_buffer_deinit(&b);
}

/* Train, together with the other processes where mpirun started several. */
static int train(struct dg_run_options *o, struct dg_error *err)
{
    struct dg_ranks ranks = {0};
    bool stopped = false;
    if (dg_ranks_launched() > 1) {
        int rc = dg_ranks_open(&ranks, err);
        if (rc)
            return rc;
        o->ranks = &ranks;
    }
    int rc = dg_run(o, &stopped, err);
    const bool leads = ranks.rank == 0;
    if (rc && rc != DG_ECANCELED && o->ranks) {
        /* The others wait for this one: none of them can go on. */
        fprintf(stderr, "dragoman-train: rank %zu: %s\n", ranks.rank, err->message);
        ranks.abort(ranks.ctx, 1);
    }
    dg_ranks_close(&ranks);
    if (rc == DG_ECANCELED) { /* before the first update: there is nothing to save */
        if (leads)
            fprintf(stderr, "dragoman-train: %s\n", err->message);
        rc = 0;
    }
    if (!rc && stopped && leads)
        tell_resume(o);
    return rc;
}

static int verb_run(const struct dg_args *a, struct dg_error *err)
{
    struct dg_recipe *r = NULL;
    int rc = check_device(a, err);
    if (!rc)
        rc = load_recipe(a, &r, err);
    struct dg_run_options o = {.dir = a->out,
        .prepared = a->prepared,
        .recipe = r,
        .quiet = a->quiet,
        .no_scores = a->no_scores,
        .device = a->device,
        .precision = a->precision,
        .stop = &stop_requested};
    watch_signals();
    if (!rc)
        rc = train(&o, err);
    dg_recipe_free(r);
    return rc;
}

static int verb_resume(const struct dg_args *a, struct dg_error *err)
{
    int rc = check_device(a, err);
    struct dg_run_options o = {.dir = a->words[0],
        .prepared = a->prepared,
        .settings = a->settings.items,
        .n_settings = a->settings.n,
        .resume = true,
        .quiet = a->quiet,
        .no_scores = a->no_scores,
        .device = a->device,
        .precision = a->precision,
        .stop = &stop_requested};
    watch_signals();
    return rc ? rc : train(&o, err);
}

static int verb_plan(const struct dg_args *a, struct dg_error *err)
{
    struct dg_recipe *r = NULL;
    struct dg_buffer text;
    dg_buffer_init(&text);
    int rc = load_recipe(a, &r, err);
    struct dg_run_options o = {
        .dir = a->out, .prepared = a->prepared, .recipe = r, .quiet = a->quiet};
    if (!rc)
        rc = dg_run_plan(&o, &text, err);
    if (text.data)
        fputs(text.data, stdout);
    dg_buffer_deinit(&text);
    dg_recipe_free(r);
    return rc;
}

static int verb_average(const struct dg_args *a, struct dg_error *err)
{
    if (a->last >= 0 && a->best >= 0)
        return dg_error_set(err, DG_EINVAL, "--last or --best, not both");
    struct dg_run_average o = {.dir = a->words[0],
        .bundle = a->out,
        .best = a->best >= 0,
        .no_scores = a->no_scores,
        .quiet = a->quiet};
    o.n = a->best > 0 ? (size_t)a->best : a->last > 0 ? (size_t)a->last : 0;
    return dg_run_average(&o, err);
}

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
    struct dg_buffer text;
    dg_buffer_init(&text);
    dg_json_set_int(o, "lines", (int64_t)e->lines);
    dg_json_set_real(o, "bleu", dg_bleu_score(&e->bleu));
    dg_json_set_string(o, "bleu_signature", dg_bleu_signature());
    dg_json_set_real(o, "chrf", dg_chrf_score(&e->chrf));
    dg_json_set_string(o, "chrf_signature", dg_chrf_signature());
    dg_json_set_int(o, "pieces", (int64_t)e->pieces);
    dg_json_set_real(o, "nll", e->nll / (double)e->pieces);
    dg_json_set_real(o, "perplexity", exp(e->nll / (double)e->pieces));
    dg_json_set_real(o, "seconds", e->seconds);
    dg_json_write(o, 0, &text);
    if (text.data)
        puts(text.data);
    dg_buffer_deinit(&text);
    dg_json_free(o);
}

static int verb_evaluate(const struct dg_args *a, struct dg_error *err)
{
    struct dg_evaluated e;
    struct dg_evaluate_text o = {.bundle = a->words[0],
        .source = a->words[1],
        .target = a->words[2],
        .source_lang = a->from,
        .target_lang = a->to,
        .lines = a->lines > 0 ? (uint64_t)a->lines : 0,
        .threads = (int)a->threads,
        .beam = a->beam_size > 0 ? (uint32_t)a->beam_size : 0,
        .alpha = (float)a->length_penalty,
        .score = true};
    int rc = dg_evaluate_text(&o, &e, err);
    if (rc)
        return rc;
    if (a->json) {
        print_json(&e);
        return 0;
    }
    printf("%zu lines, perplexity %.3f per piece (%.4f nats)\n", (size_t)e.lines,
        exp(e.nll / (double)e.pieces), e.nll / (double)e.pieces);
    print_scores(&e.bleu, &e.chrf);
    return 0;
}

/* FROM:TO:SOURCE:TARGET into its four parts, which stay in `word`. */
static int split_set(char *word, struct dg_calibrate_set *out, struct dg_error *err)
{
    char *part[4] = {word, NULL, NULL, NULL};
    for (int i = 1; i < 4; i++) {
        part[i] = strchr(part[i - 1], ':');
        if (!part[i])
            return dg_error_set(err, DG_EINVAL,
                "\"%s\" must be FROM:TO:SOURCE:TARGET, such as en:de:dev.en:dev.de", word);
        part[i]++;
    }
    for (int i = 1; i < 4; i++)
        part[i][-1] = '\0';
    *out = (struct dg_calibrate_set){
        .source_lang = part[0], .target_lang = part[1], .source = part[2], .target = part[3]};
    return 0;
}

static void print_trial(void *arg, const struct dg_calibrate_trial *t)
{
    (void)arg;
    printf("beam %u, length penalty %.1f: BLEU %.2f, chrF2 %.2f\n", t->beam, (double)t->alpha,
        t->bleu, t->chrf);
    fflush(stdout);
}

static void print_calibrated(const struct dg_calibrated *c)
{
    printf("chosen: beam %u, length penalty %.1f (%+.2f BLEU, %+.2f chrF2)\n", c->chosen.beam,
        (double)c->chosen.alpha, c->chosen.bleu - c->before.bleu, c->chosen.chrf - c->before.chrf);
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

static int verb_calibrate(const struct dg_args *a, struct dg_error *err)
{
    const size_t n = a->n_words - 1;
    struct dg_calibrate_set *sets = calloc(n, sizeof *sets);
    char **words = calloc(n, sizeof *words);
    struct dg_calibrated c;
    int rc = sets && words ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for %zu sets", n);
    for (size_t i = 0; i < n && !rc; i++) {
        words[i] = strdup(a->words[i + 1]);
        rc = words[i] ? split_set(words[i], &sets[i], err)
                      : dg_error_set(err, DG_ENOMEM, "no memory for %zu sets", n);
    }
    const struct dg_calibrate_options o = {.bundle = a->words[0],
        .sets = sets,
        .n_sets = n,
        .lines = a->lines > 0 ? (uint64_t)a->lines : 0,
        .threads = (int)a->threads,
        .tried = a->quiet ? NULL : print_trial,
        .stop = &stop_requested};
    watch_signals();
    if (!rc)
        rc = dg_calibrate(&o, &c, err);
    if (!rc)
        rc = dg_calibrate_seal(a->words[0], &c, err);
    if (!rc)
        print_calibrated(&c);
    for (size_t i = 0; words && i < n; i++)
        free(words[i]);
    free(words);
    free(sets);
    return rc;
}

static int verb_plot(const struct dg_args *a, struct dg_error *err)
{
    return dg_plot(a->words, a->n_words, a->out, err);
}

static int verb_batches(const struct dg_args *a, struct dg_error *err)
{
    struct dg_recipe *r = NULL;
    struct dg_dataset *d = NULL;
    int rc = load_recipe(a, &r, err);
    if (!rc) {
        struct dg_dataset_options o = dg_run_batches(r);
        rc = dg_dataset_open(a->prepared, "train", &o, &d, err);
    }
    for (long i = 0; i < a->lines && !rc; i++) {
        rc = dg_batches_print(d, stdout, err);
    }
    dg_dataset_close(d);
    dg_recipe_free(r);
    return rc;
}

static int verb_shortlist(const struct dg_args *a, struct dg_error *err)
{
    struct dg_made_shortlist made;
    struct dg_make_shortlist o = {.bundle = a->words[0],
        .prepared_dir = a->prepared,
        .pairs = a->lines > 0 ? (uint64_t)a->lines : 0,
        .best = a->best > 0 ? (uint32_t)a->best : 0,
        .frequent = a->frequent > 0 ? (uint32_t)a->frequent : 0};
    int rc = dg_shortlist_make(&o, &made, err);
    if (!rc)
        printf("%llu pairs: %.1f translations a source piece, %u pieces always; a sentence's list "
               "has %.0f pieces\nand holds %.2f %% of those of its translation\n",
            (unsigned long long)made.pairs, made.mean_best, made.frequent, made.mean_rows,
            100 * made.coverage);
    return rc;
}

static int verb_languages(const struct dg_args *a, struct dg_error *err)
{
    struct dg_made_detector made;
    const struct dg_make_detector o = {.texts = a->words, .n = a->n_words, .out = a->out};
    int rc = dg_detector_make(&o, &made, err);
    if (!rc)
        printf("%zu languages, %llu lines, cross-entropy %.3f nats\n", made.languages,
            (unsigned long long)made.lines, made.loss);
    return rc;
}

static int verb_bleu(const struct dg_args *a, struct dg_error *err)
{
    struct dg_bleu bleu = {{0}, {0}, 0, 0};
    struct dg_chrf chrf = {{0}, {0}, {0}};
    struct dg_corpus *corpus = NULL;
    struct dg_line lines[2];
    int got = 1, rc = dg_corpus_open(a->words, 2, &corpus, err);
    while (!rc && (got = dg_corpus_next(corpus, lines, err)) > 0) {
        rc = dg_bleu_add(&bleu, lines[0].text, lines[0].len, lines[1].text, lines[1].len, err);
        if (!rc)
            rc = dg_chrf_add(&chrf, lines[0].text, lines[0].len, lines[1].text, lines[1].len, err);
    }
    if (!rc && got < 0)
        rc = got;
    if (!rc)
        print_scores(&bleu, &chrf);
    dg_corpus_close(corpus);
    return rc;
}

static const struct dg_verb verbs[] = {
    {"run", "RECIPE --out DIR", "text files to a bundle: prepare, train, validate, average, score",
        1, 1, "out! data set init prepared threads device precision no_scores quiet", verb_run},
    {"resume", "DIR", "go on with a run, bit for bit", 1, 1,
        "set prepared threads device precision no_scores quiet", verb_resume},
    {"average", "DIR [--out BUNDLE]", "average a run's checkpoints into a bundle", 1, 1,
        "out last best no_scores quiet", verb_average},
    {"evaluate", "BUNDLE SOURCE TARGET",
        "perplexity, BLEU and chrF of a bundle on a text and its translation", 3, 3,
        "from to beam_size length_penalty lines threads json", verb_evaluate},
    {"calibrate", "BUNDLE FROM:TO:SOURCE:TARGET...",
        "length penalty, beam and threshold of low confidence by development sets, into the bundle",
        2, -1, "lines threads quiet", verb_calibrate},
    {"prepare", "RECIPE --out DIR", "clean, train the vocabulary and encode, and no more", 1, 1,
        "out! data set init threads force quiet", verb_prepare},
    {"plan", "RECIPE --out DIR", "what a run will need of memory (prepares its data)", 1, 1,
        "out! data set init prepared threads quiet", verb_plan},
    {"recipe", "RECIPE", "print a recipe with every default", 1, 1,
        "data set init threads describe", verb_recipe},
    {"plot", "LOG... --out FILE", "curves of one or more log.jsonl, as SVG", 1, -1, "out!",
        verb_plot},
    {"bleu", "HYPOTHESES REFERENCES", "BLEU and chrF of text files, as sacreBLEU counts them", 2, 2,
        "", verb_bleu},
    {"languages", "CODE=FILE... --out FILE",
        "a model that tells languages, of plain texts (CODE: en, de ...)", 1, -1, "out!",
        verb_languages},
    {"shortlist", "BUNDLE --prepared DIR",
        "which target tokens come from which source tokens, into the bundle: faster output layer",
        1, 1, "prepared! lines best frequent", verb_shortlist},
    {"batches", "RECIPE --prepared DIR",
        "the first --lines N batches as JSON, for comparing with other trainers", 1, 1,
        "prepared! data set lines", verb_batches},
};

static const char after[] =
    "\nRECIPE is a file or a preset: small, base, big, paper-base-ende, paper-big-ende, "
    "paper-big-enfr.\n"
    "SIGTERM and SIGINT save a checkpoint and end the program with exit code 0.\n"
    "mpirun -n N dragoman-train run ... shares every batch among N processes, each with a GPU of "
    "its\nown under --device cuda; SIGUSR1 to mpirun saves and ends them.\n"
    "dragoman-train VERB --help tells a verb's options; dragoman-train --version the version.\n";

static void help(FILE *to)
{
    fprintf(to, "usage: dragoman-train VERB [options]\n\nTrains the Transformer of \"Attention Is "
                "All You Need\".\n\n");
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].what);
    fputs(after, to);
}

static int run(const struct dg_verb *verb, int argc, char **argv)
{
    struct dg_args a;
    struct dg_error err = {0};
    int status = dg_args_read(verb, argc, argv, &a);
    if (status >= 0)
        return status;
    int rc = verb->run(&a, &err);
    if (rc)
        fprintf(stderr, "dragoman-train %s: %s\n", verb->name, err.message);
    return !rc ? 0 : rc == DG_EINVAL ? 2 : 1;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    if (argc < 2 || !strcmp(verb, "--help") || !strcmp(verb, "-h") || !strcmp(verb, "help")) {
        help(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    if (!strcmp(verb, "--version")) {
        puts("dragoman-train " DG_VERSION);
        return 0;
    }
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (!strcmp(verbs[i].name, verb))
            return run(&verbs[i], argc - 1, argv + 1);
    fprintf(stderr, "dragoman-train: there is no verb \"%s\"; see --help\n", verb);
    return 2;
}
