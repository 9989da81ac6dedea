/* Processes untrusted bytes in a child process without network access, if the kernel supports that.
 * The caller continues, whatever happens to the child. One thread at a time, and no other thread
 * may run, because the child is a fork. */
#ifndef DG_CONVERT_PULL_CHILD_H
#define DG_CONVERT_PULL_CHILD_H

#include "base/error.h"

#include <stdbool.h>

struct dg_child_report {
    /* The kernel refused a namespace without network. */
    bool has_network;
    /* Result of the work: a sentence and its translation. */
    char source[256], answer[512];
    /* The name of the bundle's directory. */
    char name[128];
};

/* Run work(arg, report, err) in a child and give its result. DG_EINTERNAL: it crashed or was
 * killed. */
int dg_child_run(int (*work)(void *arg, struct dg_child_report *r, struct dg_error *err), void *arg,
    struct dg_child_report *out, struct dg_error *err);

#endif
