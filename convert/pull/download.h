/* Files and texts over https, the one place that knows libcurl. The certificate is checked against
 * the system's authorities (or a file of them); redirects stay with https and are few; a proxy is
 * what HTTPS_PROXY and NO_PROXY say. It never sends credentials. One thread at a time. */
#ifndef DG_CONVERT_PULL_DOWNLOAD_H
#define DG_CONVERT_PULL_DOWNLOAD_H

#include "base/buffer.h"
#include "base/error.h"
#include "convert/pull/digest.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_downloader;

struct dg_download_options {
    /* Certificate authorities in PEM; NULL: $CURL_CA_BUNDLE, $SSL_CERT_FILE, else the system's. */
    const char *ca_file;
    /* A connection below 1 kB/s for this long is closed; 0: 30. */
    uint32_t stall_seconds;
    /* No progress on standard error. */
    bool quiet;
};

int dg_downloader_open(
    const struct dg_download_options *o, struct dg_downloader **out, struct dg_error *err);
void dg_downloader_close(struct dg_downloader *d); /* NULL is fine */

/* A text of at most `most` bytes, appended to `out`. `next` (or NULL) gets the address that the
 * answer's Link header calls its next page, "" without one. */
int dg_download_text(struct dg_downloader *d, const char *url, size_t most, struct dg_buffer *out,
    char next[2048], struct dg_error *err);

struct dg_download {
    /* Called so in messages and progress. */
    const char *name;
    const char *url;
    /* Its path. Until it is complete and correct it is PATH.part, which a later run continues. */
    const char *path;
    /* 0: not known. */
    uint64_t size;
    /* Maximum number of bytes if the size is unknown. */
    uint64_t most;
    /* "" or NULL: not known. */
    const char *sha256, *git;
};

struct dg_downloaded {
    uint64_t size;
    char sha256[DG_SHA256_DIGITS + 1];
};

/* Fetch it, going on where an earlier try or run was cut off. A wrong file is removed. DG_EIO: the
 * network, the disk; DG_ELIMIT: larger than it may be; DG_EFORMAT: another size or hash;
 * DG_ENOTFOUND: 404. */
int dg_download_file(struct dg_downloader *d, const struct dg_download *f,
    struct dg_downloaded *out, struct dg_error *err);

#endif
