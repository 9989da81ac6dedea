/* The command line of a benchmark's program whose first word is a verb. One thread, main's. */
#ifndef DG_BENCH_VERB_H
#define DG_BENCH_VERB_H

#include "base/command.h"

/* Set all defaults and read argv as dg_command_read does; *verb is the index of argv[1] in
 * verbs[n]. A group whose title is a verb and a colon has the options of that verb alone: with
 * another one, they are refused. Returns -1 to continue, otherwise the exit status. */
int dg_bench_verb(const struct dg_command *c, const char *const *verbs, size_t n, int argc,
    char **argv, size_t *verb);

#endif
