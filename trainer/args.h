/* The command line of `dragoman-train`: one table of options; each verb lists the options it takes.
 * One thread, main's. */
#ifndef DG_TRAINER_ARGS_H
#define DG_TRAINER_ARGS_H

#include "base/fields.h"

struct dg_args {
    /* [n_words] words after the verb that are not options; they point into argv */
    const char *const *words;
    size_t n_words;
    /* values of --set KEY=VALUE, plus the settings made from --threads and --init */
    struct dg_field_list settings;
    /* --text FROM:TO:SOURCE:TARGET */
    struct dg_field_list texts;
    const char *out, *data, *prepared, *from, *to, *device, *precision, *init, *tensorboard;
    /* 0: not given */
    uint64_t lines;
    uint32_t beam_size, frequent;
    /* -1: not given */
    int64_t last, best;
    double length_penalty, keep;
    /* 0: all */
    int64_t threads;
    bool force, quiet, json, no_scores, describe;
    /* the path of the bundle that the first word named */
    char bundle[4400];
    /* strings that `settings` points to */
    char init_setting[4096 + 8], threads_setting[40];
};

struct dg_verb {
    const char *name;
    /* its words and required options, for usage: "RECIPE --out DIR". If the first is BUNDLE or
     * TEACHER, it may be the name of an installed bundle, which dg_args_read replaces by its path
     */
    const char *words;
    /* one line, for lists of verbs */
    const char *what;
    /* max_words -1: any number */
    int min_words, max_words;
    /* names of the options it takes, separated by spaces, with "!" after required ones */
    const char *options;
    int (*run)(const struct dg_args *a, struct dg_error *err);
};

/* Read the command line; argv[0] is the verb. Return -1 to continue, otherwise the exit status: 0
 * after --help, 2 after wrong usage, 1 if there is no such bundle, which has been explained on
 * stderr. `out` must stay where it is, as its words may point into it. */
int dg_args_read(const struct dg_verb *verb, int argc, char **argv, struct dg_args *out);

#endif
