/* The command line of a verb: its tables of options are read, checked and printed in one place. */
#ifndef DG_CLI_COMMAND_H
#define DG_CLI_COMMAND_H

#include "base/options.h"

enum { DG_CLI_GROUPS = 8 };

struct dg_cli_command {
    const char *verb;
    /* "usage: ..." and what it does; lines end in "\n". */
    const char *usage;
    const struct dg_fields *groups; /* [n] below DG_CLI_GROUPS */
    size_t n_groups;
    /* Printed after the options, or NULL. */
    const char *after;
    /* How many words that are no options it takes. */
    int min_words, max_words;
    /* What they are, for a message: "one bundle". */
    const char *words;
};

/* Read argv[1..]; the words are argv[1..*n_words] then. -1: go on; otherwise the exit status: 0
 * after
 * --help, 2 after wrong usage, which was explained. */
int dg_cli_command_read(const struct dg_cli_command *command, int argc, char **argv, int *n_words);

#endif
