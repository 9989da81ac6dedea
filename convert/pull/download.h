/* Downloads files and texts over https; only download.c uses libcurl. The certificate is checked
 * against the system's authorities (or a file of them); redirects must stay on https, and their
 * number is limited; HTTPS_PROXY and NO_PROXY set the proxy. Credentials are never sent. One thread
 * at a time. */
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
    /* Do not show progress on standard error. */
    bool quiet;
};

int dg_downloader_open(
    const struct dg_download_options *o, struct dg_downloader **out, struct dg_error *err);
void dg_downloader_close(struct dg_downloader *d); /* NULL is fine */

/* Download a text of at most `most` bytes into `out`, replacing its content. `next` (or NULL) gets
 * the address of the next page in the answer's Link header, "" without one. */
int dg_download_text(struct dg_downloader *d, const char *url, size_t most, struct dg_buffer *out,
    char next[2048], struct dg_error *err);

struct dg_download {
    /* Name in messages and progress. */
    const char *name;
    const char *url;
    /* Path of the file. Until the file is complete and correct it is PATH.part, which a later run
     * continues. */
    const char *path;
    /* In bytes; 0: not known. */
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

/* Download the file, continuing where an earlier try or run was cut off. A finished file whose hash
 * is known and right is not downloaded again. A wrong file is removed.
 * DG_EIO: the network, the disk; DG_ELIMIT: larger than it may be; DG_EFORMAT: another size or
 * hash; DG_ENOTFOUND: 404. */
int dg_download_file(struct dg_downloader *d, const struct dg_download *f,
    struct dg_downloaded *out, struct dg_error *err);

#endif
