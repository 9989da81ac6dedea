/* The command line of dragoman-load. Plain data; the strings are argv's. One thread, main's. */
#ifndef DG_LOAD_OPTIONS_H
#define DG_LOAD_OPTIONS_H

#include "bench/load/client.h"

enum dg_load_verb { DG_LOAD_LEARN, DG_LOAD_OPEN, DG_LOAD_CLOSED };

struct dg_load_named {
    char class[64];    /* before the "=" */
    const char *value; /* after it */
};

struct dg_load_options {
    enum dg_load_verb verb;
    const char *items, *out, *trace, *path, *only;
    int64_t port;
    struct dg_load_plan plan; /* shares and `only` need the items' classes: main.c sets them */
    struct dg_load_named share[DG_LOAD_CLASSES], fields[DG_LOAD_CLASSES];
    size_t n_share, n_fields;
    int64_t connections, concurrency, idle, slow, term_pid;
    double seconds, warm_up, grace, slow_interval, term_after;
};

/* Returns -1 to continue, otherwise the exit status: 0 after --help, 2 after wrong usage, which was
 * explained. */
int dg_load_options_read(int argc, char *argv[], struct dg_load_options *out);

#endif
