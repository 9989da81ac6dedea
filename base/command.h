/* The command line of a program or of one of its verbs: tables of options are read, checked and
 * printed in one place. Prints --help to standard output and what is wrong to standard error.
 * One thread, main's. */
#ifndef DG_BASE_COMMAND_H
#define DG_BASE_COMMAND_H

#include "base/options.h"

/* The tables of a command, --help's own among them; the exit status of a program whose command has
 * more of them (EX_SOFTWARE). */
enum { DG_COMMAND_GROUPS = 10, DG_COMMAND_BROKEN = 70 };

struct dg_command {
    /* For messages: "dragoman translate". */
    const char *name;
    /* "usage: ..." and what it does; lines end in "\n". */
    const char *usage;
    /* [n_groups], fewer than DG_COMMAND_GROUPS. */
    const struct dg_fields *groups;
    size_t n_groups;
    /* Printed after the options, or NULL. */
    const char *after;
    /* How many words that are no options it takes; max -1: any number. */
    int min_words, max_words;
    /* What they are, for a message: "one bundle". */
    const char *words;
};

/* Read argv[1..]; the words are argv[1..*n_words] then. -1: go on; otherwise the exit status: 0
 * after --help, 2 after wrong usage, DG_COMMAND_BROKEN for more tables than there is room for; the
 * last two are explained. */
int dg_command_read(const struct dg_command *c, int argc, char **argv, int *n_words);

/* Explain wrong usage and say where the help is. Returns 2. */
int dg_command_refuse(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
