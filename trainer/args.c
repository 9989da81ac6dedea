#include "trainer/args.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {{"out", required_argument, NULL, 'o'},
    {"data", required_argument, NULL, 'd'}, {"prepared", required_argument, NULL, 'p'},
    {"init", required_argument, NULL, 'i'}, {"set", required_argument, NULL, 's'},
    {"threads", required_argument, NULL, 't'}, {"force", no_argument, NULL, 'f'},
    {"device", required_argument, NULL, 'D'}, {"precision", required_argument, NULL, 'P'},
    {"quiet", no_argument, NULL, 'q'}, {"from", required_argument, NULL, 'F'},
    {"to", required_argument, NULL, 'T'}, {"beam", required_argument, NULL, 'b'},
    {"alpha", required_argument, NULL, 'a'}, {"lines", required_argument, NULL, 'n'},
    {"last", required_argument, NULL, 'L'}, {"best", required_argument, NULL, 'B'},
    {"frequent", required_argument, NULL, 'Q'}, {"json", no_argument, NULL, 'j'},
    {"no-scores", no_argument, NULL, 'S'}, {0}};

static int parse_number(
    const char *name, const char *text, long max, long *out, struct dg_error *err)
{
    char *end = NULL;
    errno = 0;
    *out = strtol(text, &end, 10);
    if (errno || end == text || *end || *out < 0 || *out > max)
        return dg_error_field(err, DG_EINVAL, name,
            "--%s is \"%s\", must be a whole number from 0 to %ld", name, text, max);
    return 0;
}

static int add_setting(struct dg_args *a, const char *setting, struct dg_error *err)
{
    if (a->n_settings == DG_ARGS_MAX)
        return dg_error_set(err, DG_ELIMIT, "more than %d settings", DG_ARGS_MAX);
    a->settings[a->n_settings++] = setting;
    return 0;
}

/* A bundle is named from where the program stands, the recipe's paths from the data folder: so it
 * is made absolute. */
static int set_init(struct dg_args *a, const char *bundle, struct dg_error *err)
{
    char *path = realpath(bundle, NULL);
    if (!path)
        return dg_error_field(err, DG_ENOTFOUND, "init", "--init %s: %s", bundle, strerror(errno));
    int n = snprintf(a->init, sizeof a->init, "init=%s", path);
    free(path);
    return (size_t)n < sizeof a->init
               ? add_setting(a, a->init, err)
               : dg_error_field(err, DG_EINVAL, "init", "--init: the path is too long");
}

static int take(struct dg_args *a, int letter, const char *value, struct dg_error *err)
{
    char *end = NULL;
    int rc = 0;
    switch (letter) {
    case 'o': a->out = value; return 0;
    case 'd': a->data = value; return 0;
    case 'p': a->prepared = value; return 0;
    case 'D': a->device = value; return 0;
    case 'P': a->precision = value; return 0;
    case 'F': a->from = value; return 0;
    case 'T': a->to = value; return 0;
    case 'i': return set_init(a, value, err);
    case 's': return add_setting(a, value, err);
    case 'f': a->force = true; return 0;
    case 'q': a->quiet = true; return 0;
    case 'j': a->json = true; return 0;
    case 'S': a->no_scores = true; return 0;
    case 'b': return parse_number("beam", value, 32, &a->beam, err);
    case 'n': return parse_number("lines", value, 1000000000, &a->lines, err);
    case 'Q': return parse_number("frequent", value, 1000000, &a->frequent, err);
    case 'L': return parse_number("last", value, 10000, &a->last, err);
    case 'B': return parse_number("best", value, 10000, &a->best, err);
    case 't':
        rc = parse_number("threads", value, 4096, &a->threads, err);
        snprintf(a->threads_setting, sizeof a->threads_setting, "training.threads=%ld", a->threads);
        return rc ? rc : add_setting(a, a->threads_setting, err);
    default:
        a->alpha = strtod(value, &end);
        if (end == value || *end || !(a->alpha >= 0 && a->alpha <= 10))
            rc = dg_error_field(
                err, DG_EINVAL, "alpha", "--alpha is \"%s\", must be a number from 0 to 10", value);
        return rc;
    }
}

static const char *name_of(int letter)
{
    for (const struct option *o = options; o->name; o++)
        if (o->val == letter)
            return o->name;
    return "?";
}

int dg_args_parse(
    int argc, char **argv, const char *allowed, struct dg_args *out, struct dg_error *err)
{
    int letter, rc = 0;
    memset(out, 0, sizeof *out);
    out->beam = out->lines = out->last = out->best = out->frequent = -1;
    out->alpha = -1;
    opterr = 0;
    while (!rc && (letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
        const char *word = argv[optind - 1];
        if (letter == '?')
            rc = dg_error_set(
                err, DG_EINVAL, "%s: there is no such option, or its value is missing", word);
        else if (!strchr(allowed, letter))
            rc = dg_error_set(err, DG_EINVAL, "`%s` takes no --%s", argv[0], name_of(letter));
        else
            rc = take(out, letter, optarg, err);
    }
    for (; !rc && optind < argc; optind++) {
        if (out->n_words == DG_ARGS_MAX)
            return dg_error_set(err, DG_ELIMIT, "more than %d words", DG_ARGS_MAX);
        out->words[out->n_words++] = argv[optind];
    }
    return rc;
}
