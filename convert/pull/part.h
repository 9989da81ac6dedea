/* A file that is still arriving: PATH.part with its hashes as far as it goes, and PATH.part.etag
 * with what its server calls this version of it. Locked while open. One thread at a time. */
#ifndef DG_CONVERT_PULL_PART_H
#define DG_CONVERT_PULL_PART_H

#include "base/error.h"
#include "convert/pull/digest.h"
#include "convert/pull/download.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_part {
    const struct dg_download *f;
    int fd;
    bool locked;
    uint64_t have;
    /* Some of it is an earlier run's. */
    bool found;
    /* "": none, or the file's hash is known, which says more. */
    char etag[256];
    struct dg_digest digest;
    char path[4096], etag_path[4128];
};

/* Open or create it, reading its content. DG_EAGAIN: another run has it open. */
int dg_part_open(struct dg_part *p, const struct dg_download *f, struct dg_error *err);
int dg_part_append(struct dg_part *p, const void *data, size_t n, struct dg_error *err);
/* Begin again with nothing. */
int dg_part_restart(struct dg_part *p, struct dg_error *err);
/* Keep the name of the version that arrives. */
int dg_part_note_etag(struct dg_part *p, const char *etag, struct dg_error *err);
/* Has it the size and hashes that are expected? */
bool dg_part_is_right(const struct dg_part *p);
/* Rename it to PATH when it is right; else remove it: DG_EFORMAT says what differs. */
int dg_part_finish(struct dg_part *p, struct dg_downloaded *out, struct dg_error *err);
void dg_part_close(struct dg_part *p);

#endif
