#include "trainer/data/hash.h"

#include "base/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

struct dg_hasher {
    XXH3_state_t *state;
};

uint64_t dg_hash64(const void *data, size_t n)
{
    return XXH3_64bits(data, n);
}

struct dg_hash128 dg_hash128(const void *data, size_t n, uint64_t seed)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(data, n, seed);
    return (struct dg_hash128){h.high64, h.low64};
}

void dg_hash_print(struct dg_hash128 h, char out[33])
{
    snprintf(out, 33, "%016" PRIx64 "%016" PRIx64, h.high, h.low);
}

struct dg_hasher *dg_hasher_new(void)
{
    struct dg_hasher *h = dg_alloc(1, sizeof *h, "a hash");
    h->state = XXH3_createState();
    dg_alloc_check(h->state, "a hash");
    XXH3_64bits_reset(h->state);
    return h;
}

void dg_hasher_free(struct dg_hasher *h)
{
    if (!h)
        return;
    XXH3_freeState(h->state);
    free(h);
}

void dg_hasher_add(struct dg_hasher *h, const void *data, size_t n)
{
    XXH3_64bits_update(h->state, data, n);
}

uint64_t dg_hasher_64(const struct dg_hasher *h)
{
    return XXH3_64bits_digest(h->state);
}

int dg_hash_file(const char *path, char out[33], uint64_t *bytes, struct dg_error *err)
{
    enum { CHUNK = 1 << 18 };
    int rc = 0;
    uint64_t total = 0;
    FILE *f = fopen(path, "rb");
    if (!f)
        return dg_error_set(err, errno == ENOENT ? DG_ENOTFOUND : DG_EIO, "cannot open %s: %s",
            path, strerror(errno));
    XXH3_state_t *h = XXH3_createState();
    dg_alloc_check(h, "a hash");
    XXH3_128bits_reset(h);
    char *chunk = dg_alloc(CHUNK, 1, "a file to hash");
    for (size_t n; (n = fread(chunk, 1, CHUNK, f)) > 0; total += n)
        XXH3_128bits_update(h, chunk, n);
    const XXH128_hash_t v = XXH3_128bits_digest(h);
    if (ferror(f))
        rc = dg_error_set(err, DG_EIO, "cannot read %s: %s", path, strerror(errno));
    else
        dg_hash_print((struct dg_hash128){v.high64, v.low64}, out);
    if (!rc && bytes)
        *bytes = total;
    free(chunk);
    XXH3_freeState(h);
    fclose(f);
    return rc;
}
