#include "convert/pull/digest.h"

#include <inttypes.h>
#include <stdio.h>

void dg_digest_begin(struct dg_digest *d, uint64_t size)
{
    char head[32];
    const int n = snprintf(head, sizeof head, "blob %" PRIu64, size);
    SHA256Init(&d->sha256);
    SHA1Init(&d->git);
    SHA1Update(&d->git, (const uint8_t *)head, (size_t)n + 1); /* with its NUL */
}

void dg_digest_add(struct dg_digest *d, const void *data, size_t n)
{
    SHA256Update(&d->sha256, data, n);
    SHA1Update(&d->git, data, n);
}

static void write_hex(const unsigned char *bytes, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

void dg_digest_end(
    struct dg_digest *d, char sha256[DG_SHA256_DIGITS + 1], char git[DG_GIT_DIGITS + 1])
{
    unsigned char a[SHA256_DIGEST_LENGTH], b[SHA1_DIGEST_LENGTH];
    SHA256Final(a, &d->sha256);
    SHA1Final(b, &d->git);
    write_hex(a, sizeof a, sha256);
    write_hex(b, sizeof b, git);
}
