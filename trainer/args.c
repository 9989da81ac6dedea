#include "trainer/args.h"

#include "base/command.h"
#include "model/engine/beam.h"
#include "translate/installed.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) DG_FIELD_AT(struct dg_args, member)
#define TEXT(member) DG_FIELD_STRING, AT(member)
#define WHOLE(member, min, max) DG_FIELD_INT, AT(member), min, max

/* Two entries of settings are kept for --threads and --init. */
enum { SETTINGS = DG_FIELD_LIST_MAX - 2 };

static const struct dg_field rows[] = {
    {"out", TEXT(out), .argument = "DIR", .help = "output directory"},
    {"data", TEXT(data), .argument = "DIR",
        .help = "base directory of the recipe's relative paths"},
    {"set", DG_FIELD_LIST, AT(settings), 0, SETTINGS, .argument = "KEY=VALUE",
        .help = "override a field of the recipe, e.g. training.updates=2000; may be repeated"},
    {"prepared", TEXT(prepared), .argument = "DIR",
        .help = "directory of prepared data, created if missing; several runs may share it"},
    {"init", TEXT(init), .argument = "BUNDLE",
        .help =
            "start from this bundle (a directory, or the name of an installed one) and keep its "
            "vocabulary and dimensions"},
    {"threads", WHOLE(threads, 0, 4096),
        .help = "compute threads; 0: all cores that affinity and control groups allow "
                "(default: 0, or a recipe's value)"},
    {"device", TEXT(device), .argument = "NAME",
        .help = "training device: cpu, cuda, cuda:N or auto (default: cpu)"},
    {"precision", TEXT(precision), .argument = "TYPE",
        .help = "type of matrix products: fp32, bf16, or fp16 on a GPU; parameters are always "
                "fp32 (default: the recipe's)"},
    {"no_scores", DG_FIELD_BOOL, AT(no_scores),
        .help = "do not translate and score the dev and test sets at the end"},
    {"tensorboard", TEXT(tensorboard), .argument = "DIR",
        .help = "also write the log's numbers as TensorBoard event files into this directory"},
    {"force", DG_FIELD_BOOL, AT(force), .help = "prepare the data again even if it exists"},
    {"quiet", DG_FIELD_BOOL, AT(quiet), .help = "do not print progress on standard error"},
    {"from", TEXT(from), .argument = "CODE",
        .help = "source language (default: that of the bundle's only pair)"},
    {"to", TEXT(to), .argument = "CODE",
        .help = "target language (default: that of the bundle's only pair)"},
    {"beam_size", WHOLE(beam_size, 0, DG_MAX_BEAM), .old = "beam",
        .help = "beam size; 0: the bundle's"},
    {"length_penalty", DG_FIELD_REAL, AT(length_penalty), 0, 10, .old = "alpha", .argument = "X",
        .help = "exponent of the length penalty (default: the bundle's)"},
    {"lines", WHOLE(lines, 0, 1e9), .help = "number of lines to use, from the first; 0: all"},
    {"last", WHOLE(last, 0, 10000), .help = "average the last N checkpoints"},
    {"best", WHOLE(best, 0, 10000), .help = "average the best N checkpoints"},
    {"frequent", WHOLE(frequent, 0, 1000000),
        .help = "number of frequent tokens that are always in the list (default: 200)"},
    {"text", DG_FIELD_LIST, AT(texts), 0, DG_FIELD_LIST_MAX, .argument = "FROM:TO:SOURCE:TARGET",
        .help =
            "text to learn the list from, prepared into --prepared with the bundle's vocabulary; "
            "may be repeated"},
    {"keep", DG_FIELD_REAL, AT(keep), 0, 1, .argument = "SHARE",
        .help = "share of the pairs to keep (default: 0.8)"},
    {"json", DG_FIELD_BOOL, AT(json), .help = "print JSON"},
    {"describe", DG_FIELD_BOOL, AT(describe),
        .help = "print each field's type, range and default instead"},
};

/* What an option means to some verbs, and its argument there (NULL: as in its row). */
static const struct words {
    const char *verb, *option, *argument, *help;
} words[] = {
    {"run", "out", NULL, "directory of the run: data, checkpoints, log and, at the end, bundle"},
    {"plan", "out", NULL, "directory of the future run; its data is prepared there"},
    {"average", "out", "BUNDLE", "output bundle (default: the run's own, DIR/bundle)"},
    {"prepare", "out", NULL, "directory of the prepared data"},
    {"distill", "out", NULL, "output directory: text, recipe.json and the run, with run/bundle"},
    {"backtranslate", "out", "PREFIX", "write PREFIX.en and so on, by the languages' codes"},
    {"filter", "out", "PREFIX", "write PREFIX.en and so on, and PREFIX.scores"},
    {"treebank", "out", "PREFIX", "write PREFIX.words, PREFIX.parse and PREFIX.gold"},
    {"plot", "out", "FILE", "output file (SVG)"},
    {"languages", "out", "FILE", "output file: the model"},
    {"treebank", "lines", NULL, "number of trees to use, from the first; 0: all"},
    {"shortlist", "lines", NULL,
        "with sets: number of lines of each to measure with, from the first; without: number of "
        "pairs to learn from; 0: all"},
    {"batches", "lines", NULL, "number of batches to print"},
    {"shortlist", "best", NULL, "translations per source token (default: 50)"},
};

static void reword(const char *verb, struct dg_field *row)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].verb, verb) != 0 || strcmp(words[i].option, row->name) != 0)
            continue;
        row->help = words[i].help;
        row->argument = words[i].argument ? words[i].argument : row->argument;
    }
}

/* Copy the rows that a verb names to `out`. Return how many. */
static size_t choose(const struct dg_verb *verb, struct dg_field *out)
{
    const struct dg_fields all = {rows, DG_FIELD_COUNT(rows), NULL, NULL, NULL};
    size_t n = 0;
    for (const char *p = verb->options; *p; p += strspn(p, " !")) {
        char name[32];
        const size_t len = strcspn(p, " !");
        snprintf(name, sizeof name, "%.*s", (int)len, p);
        const size_t row = dg_fields_find(&all, name);
        assert(row < all.n);
        out[n] = rows[row];
        reword(verb->name, &out[n]);
        p += len;
        out[n++].flags |= *p == '!' ? DG_FIELD_REQUIRED : 0;
    }
    return n;
}

/* Turn --init and --threads into settings. --init is relative to the working directory, but the
 * recipe's paths are relative to the data folder, so it is made absolute. */
static int add_settings(struct dg_args *a, struct dg_error *err)
{
    char named[4400] = "";
    int rc = a->init ? dg_installed_named(a->init, named, sizeof named, err) : 0;
    if (rc)
        return rc;
    char *path = a->init ? realpath(named, NULL) : NULL;
    if (a->init && !path)
        return dg_error_field(err, DG_EINVAL, "--init", "--init %s: %s", a->init, strerror(errno));
    if (path) {
        int n = snprintf(a->init_setting, sizeof a->init_setting, "init=%s", path);
        free(path);
        if ((size_t)n >= sizeof a->init_setting)
            return dg_error_field(err, DG_EINVAL, "--init", "--init: the path is too long");
        a->settings.items[a->settings.n++] = a->init_setting;
    }
    if (a->threads >= 0) {
        snprintf(a->threads_setting, sizeof a->threads_setting, "training.threads=%lld",
            (long long)a->threads);
        a->settings.items[a->settings.n++] = a->threads_setting;
    }
    a->threads = a->threads < 0 ? 0 : a->threads;
    return DG_OK;
}

static bool takes_bundle(const struct dg_verb *verb)
{
    return !strncmp(verb->words, "BUNDLE", 6) || !strncmp(verb->words, "TEACHER", 7);
}

int dg_args_read(const struct dg_verb *verb, int argc, char **argv, struct dg_args *out)
{
    struct dg_field chosen[DG_FIELD_COUNT(rows)];
    struct dg_error err = {0};
    char name[64], usage[500];
    int n = 0;
    memset(out, 0, sizeof *out);
    out->last = out->best = out->threads = -1;
    out->length_penalty = -1;
    out->keep = 0.8;
    const struct dg_fields groups[] = {{chosen, choose(verb, chosen), out, NULL, NULL}};
    snprintf(name, sizeof name, "dragoman-train %s", verb->name);
    snprintf(usage, sizeof usage, "usage: dragoman-train %s %s [options]\n\n%c%s.\n", verb->name,
        verb->words, toupper((unsigned char)verb->what[0]), verb->what + 1);
    if (takes_bundle(verb))
        snprintf(usage + strlen(usage), sizeof usage - strlen(usage),
            "%.*s is a bundle's directory, or the name of an installed one.\n",
            (int)strcspn(verb->words, " "), verb->words);
    const struct dg_command command = {.name = name,
        .usage = usage,
        .groups = groups,
        .n_groups = 1,
        .min_words = verb->min_words,
        .max_words = verb->max_words,
        .words = verb->words};
    int status = dg_command_read(&command, argc, argv, &n);
    if (status >= 0)
        return status;
    if (add_settings(out, &err) != DG_OK)
        return dg_command_refuse(name, "%s", err.message);
    if (takes_bundle(verb)) {
        if (dg_installed_named(argv[1], out->bundle, sizeof out->bundle, &err) != DG_OK) {
            fprintf(stderr, "%s: %s\n", name, err.message);
            return 1;
        }
        argv[1] = out->bundle;
    }
    out->words = (const char *const *)(argv + 1);
    out->n_words = (size_t)n;
    return -1;
}
