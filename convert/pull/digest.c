#include "convert/pull/digest.h"

#include <inttypes.h>
#include <stdio.h>

void dg_digest_begin(struct dg_digest *d, uint64_t size)
{
    char head[32];
    const int n = snprintf(head, sizeof head, "blob %" PRIu64, size);
    sha256_init(&d->sha256);
    sha1_init(&d->git);
    sha1_update(&d->git, (size_t)n + 1, (const uint8_t *)head); /* including the NUL */
}

void dg_digest_add(struct dg_digest *d, const void *data, size_t n)
{
    sha256_update(&d->sha256, n, data);
    sha1_update(&d->git, n, data);
}

static void write_hex(const unsigned char *bytes, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

void dg_digest_end(
    struct dg_digest *d, char sha256[DG_SHA256_DIGITS + 1], char git[DG_GIT_DIGITS + 1])
{
    unsigned char a[SHA256_DIGEST_SIZE], b[SHA1_DIGEST_SIZE];
    sha256_digest(&d->sha256, sizeof a, a);
    sha1_digest(&d->git, sizeof b, b);
    write_hex(a, sizeof a, sha256);
    write_hex(b, sizeof b, git);
}
