/* A partly downloaded file: PATH.part, with the hashes of its bytes so far, and PATH.part.etag with
 * the server's ETag of this version. Locked while open. One thread at a time. */
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
    /* Some of it is from an earlier run. */
    bool found;
    /* The ETag; "": none, or a hash of the file is known, which says more. */
    char etag[256];
    struct dg_digest digest;
    char path[4096], etag_path[4128];
};

/* True if an earlier run finished the file (without .part), and its hash is known and right; *out
 * is set then. */
bool dg_part_is_finished(const struct dg_download *f, struct dg_downloaded *out);

/* Open or create the file, and read its content. DG_EAGAIN: another run has it open. */
int dg_part_open(struct dg_part *p, const struct dg_download *f, struct dg_error *err);
int dg_part_append(struct dg_part *p, const void *data, size_t n, struct dg_error *err);
/* Start again with an empty file. */
int dg_part_restart(struct dg_part *p, struct dg_error *err);
/* Store the ETag of the version that arrives. */
int dg_part_note_etag(struct dg_part *p, const char *etag, struct dg_error *err);
/* Does it have the expected size and hashes? */
bool dg_part_is_right(const struct dg_part *p);
/* If the file is right, rename it to PATH; otherwise remove it, and DG_EFORMAT says what differs.
 */
int dg_part_finish(struct dg_part *p, struct dg_downloaded *out, struct dg_error *err);
void dg_part_close(struct dg_part *p);

#endif
