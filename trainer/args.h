/* The command line of `dragoman-train`: one list of options, each verb says which it takes. */
#ifndef DG_TRAINER_ARGS_H
#define DG_TRAINER_ARGS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { DG_ARGS_MAX = 64 };

struct dg_args {
    const char *words[DG_ARGS_MAX]; /* what is no option, after the verb */
    size_t n_words;
    const char *settings[DG_ARGS_MAX]; /* --set KEY=VALUE, and what --threads and --init become */
    size_t n_settings;
    const char *out, *data, *prepared, *from, *to, *device, *precision;
    long beam, lines, last, best, frequent; /* -1: not given */
    long threads;                           /* 0: all */
    double alpha;                           /* negative: not given */
    bool force, quiet, json, no_scores;
    char init[4096 + 8], threads_setting[40]; /* what settings[] points to */
};

/* argv[0] is the verb; allowed: letters of the options it takes, see args.c. DG_EINVAL names the
 * option. */
int dg_args_parse(
    int argc, char **argv, const char *allowed, struct dg_args *out, struct dg_error *err);

#endif
