/* The command line of `dragoman-train`: one table of options; each verb lists the options it takes.
 * One thread, main's. */
#ifndef DG_TRAINER_ARGS_H
#define DG_TRAINER_ARGS_H

#include "base/fields.h"

struct dg_args {
    /* [n_words] words after the verb that are not options; of argv. */
    const char *const *words;
    size_t n_words;
    /* --set KEY=VALUE, and what --threads and --init become. */
    struct dg_field_list settings;
    /* --text FROM:TO:SOURCE:TARGET */
    struct dg_field_list texts;
    const char *out, *data, *prepared, *from, *to, *device, *precision, *init, *tensorboard;
    /* -1: not given. */
    int64_t beam_size, lines, last, best, frequent;
    double length_penalty, keep;
    /* 0: all. */
    int64_t threads;
    bool force, quiet, json, no_scores, describe;
    /* What settings points to. */
    char init_setting[4096 + 8], threads_setting[40];
};

struct dg_verb {
    const char *name;
    /* Its words and what else it needs, for usage: "RECIPE --out DIR". */
    const char *words;
    /* One line, for lists. */
    const char *what;
    /* max_words -1: any number. */
    int min_words, max_words;
    /* Names of the options it takes with spaces between, "!" after those it needs. */
    const char *options;
    int (*run)(const struct dg_args *a, struct dg_error *err);
};

/* argv[0] is the verb. -1: continue; otherwise the exit status: 0 after --help, 2 after wrong
 * usage, which was explained. */
int dg_args_read(const struct dg_verb *verb, int argc, char **argv, struct dg_args *out);

#endif
