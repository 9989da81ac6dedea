/* Shows a download's progress on standard error: a bar with rate and time left on a terminal,
 * otherwise a plain line now and then. One thread at a time. */
#ifndef DG_CONVERT_PULL_PROGRESS_H
#define DG_CONVERT_PULL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_progress {
    const char *name;
    /* In bytes. total 0: not known; before: present when this run began. */
    uint64_t total, before, done;
    uint64_t started_ns, shown_ns;
    bool terminal;
    /* Nothing is written. */
    bool quiet;
};

/* `name` is borrowed until the end. */
void dg_progress_begin(
    struct dg_progress *p, const char *name, uint64_t total, uint64_t before, bool quiet);
/* done: bytes present, including earlier ones. */
void dg_progress_set(struct dg_progress *p, uint64_t done);
void dg_progress_end(struct dg_progress *p, bool whole);

/* "17.1 MB"; "640 kB". */
const char *dg_progress_size(uint64_t bytes, char *out, size_t cap);

#endif
