/* Hashes of a file as it arrives: SHA-256, and the SHA-1 by which git names its content. One thread
 * at a time. */
#ifndef DG_CONVERT_PULL_DIGEST_H
#define DG_CONVERT_PULL_DIGEST_H

#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <stddef.h>
#include <stdint.h>

enum { DG_SHA256_DIGITS = 64, DG_GIT_DIGITS = 40 };

struct dg_digest {
    struct sha256_ctx sha256;
    struct sha1_ctx git;
};

/* git's hash begins with the size; if only SHA-256 is needed, any size works. */
void dg_digest_begin(struct dg_digest *d, uint64_t size);
void dg_digest_add(struct dg_digest *d, const void *data, size_t n);
/* Lower-case hexadecimal digits. */
void dg_digest_end(
    struct dg_digest *d, char sha256[DG_SHA256_DIGITS + 1], char git[DG_GIT_DIGITS + 1]);

#endif
