/* The command line of a program or of one of its verbs: tables of options are read, checked and
 * printed in one place. Prints --help to standard output and errors to standard error. One thread,
 * main's. */
#ifndef DG_BASE_COMMAND_H
#define DG_BASE_COMMAND_H

#include "base/options.h"

/* Maximum number of tables of a command, including --help's own; exit status of a program with more
 * of them (EX_SOFTWARE). */
enum { DG_COMMAND_GROUPS = 10, DG_COMMAND_BROKEN = 70 };

struct dg_command {
    /* For messages: "dragoman translate". */
    const char *name;
    /* "usage: ..." and a description; lines end in "\n". */
    const char *usage;
    /* [n_groups], fewer than DG_COMMAND_GROUPS. */
    const struct dg_fields *groups;
    size_t n_groups;
    /* Printed after the options, or NULL. */
    const char *after;
    /* Number of words that are not options; max -1: any number. */
    int min_words, max_words;
    /* Name of the words for a message: "one bundle". */
    const char *words;
};

/* Read argv[1..] and leave the words in argv[1..*n_words]. Returns -1 to continue, otherwise the
 * exit status: 0 after --help, 2 after wrong usage, DG_COMMAND_BROKEN for too many tables; the last
 * two print a message. */
int dg_command_read(const struct dg_command *c, int argc, char **argv, int *n_words);

/* Print a message about wrong usage and how to get help. Returns 2. */
int dg_command_refuse(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Flush standard output. DG_EIO if any of it was lost, now or in an earlier write: a failed write
 * drops its text, and a later flush does not report that. */
int dg_command_flush(struct dg_error *err);

#endif
