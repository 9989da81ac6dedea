#include "weights/shortlist.h"

#include "base/file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "shortlists are used in place and are little-endian"
#endif

#define MAGIC "DGSL\r\n\x1a\n"

struct header {
    unsigned char magic[8];
    /* XXH3-64 of all following bytes */
    uint64_t checksum;
    uint32_t version, source_vocab, target_vocab;
    uint32_t n_always, n_ids;
    /* 2 if all target ids fit, else 4 */
    uint32_t id_bytes;
    uint64_t file_bytes;
};

_Static_assert(sizeof(struct header) == 48, "the header is 48 bytes");

struct dg_shortlist {
    struct dg_map map;
    uint32_t target_vocab, n_always;
    bool wide;
    /* [source_vocab + 1], in the map */
    const uint32_t *first;
    /* in the map */
    const void *always, *ids;
};

static uint32_t id_at(const struct dg_shortlist *s, const void *list, size_t i)
{
    return s->wide ? ((const uint32_t *)list)[i] : ((const uint16_t *)list)[i];
}

static uint64_t size_of(const struct header *h)
{
    return sizeof *h + 4 * ((uint64_t)h->source_vocab + 1) +
           (uint64_t)h->id_bytes * ((uint64_t)h->n_always + h->n_ids);
}

static int check_header(const struct header *h, size_t size, const char *path, uint32_t Vs,
    uint32_t Vt, struct dg_error *err)
{
    if (size < sizeof *h || memcmp(h->magic, MAGIC, sizeof h->magic) != 0)
        return dg_error_set(err, DG_EFORMAT, "%s: is not a shortlist", path);
    if (h->version != 1)
        return dg_error_set(
            err, DG_EFORMAT, "%s: version is %u, this program reads 1", path, h->version);
    if (h->source_vocab != Vs || h->target_vocab != Vt)
        return dg_error_set(err, DG_EINVAL,
            "%s: is for vocabularies of %u and %u pieces, the model has %u and %u", path,
            h->source_vocab, h->target_vocab, Vs, Vt);
    if ((h->id_bytes != 2 || Vt > 65536) && h->id_bytes != 4)
        return dg_error_set(err, DG_EFORMAT, "%s: ids of %u bytes", path, h->id_bytes);
    if (h->file_bytes != size || size_of(h) != size)
        return dg_error_set(err, DG_EFORMAT, "%s: has %zu bytes, its header says %llu", path, size,
            (unsigned long long)size_of(h));
    const size_t skip = offsetof(struct header, version);
    if (XXH3_64bits((const char *)h + skip, size - skip) != h->checksum)
        return dg_error_set(err, DG_EFORMAT, "%s: the checksum is wrong", path);
    return 0;
}

static int check_lists(
    const struct dg_shortlist *s, const struct header *h, const char *path, struct dg_error *err)
{
    if (s->first[0] != 0 || s->first[h->source_vocab] != h->n_ids)
        return dg_error_set(err, DG_EFORMAT, "%s: the lists do not cover its ids", path);
    for (uint32_t i = 0; i < h->source_vocab; i++)
        if (s->first[i] > s->first[i + 1])
            return dg_error_set(
                err, DG_EFORMAT, "%s: the list of piece %u ends before it begins", path, i);
    for (size_t i = 0; i < (size_t)h->n_always + h->n_ids; i++)
        if (id_at(s, s->always, i) >= h->target_vocab)
            return dg_error_set(err, DG_EFORMAT, "%s: id %u is outside the vocabulary of %u", path,
                id_at(s, s->always, i), h->target_vocab);
    return 0;
}

int dg_shortlist_open(const char *path, uint32_t source_vocab, uint32_t target_vocab,
    struct dg_shortlist **out, struct dg_error *err)
{
    struct dg_shortlist *s = calloc(1, sizeof *s);
    int rc = s ? dg_file_load(path, &s->map, err)
               : dg_error_set(err, DG_ENOMEM, "no memory for a shortlist");
    if (!rc) {
        const struct header *h = (const void *)s->map.data;
        rc = check_header(h, s->map.size, path, source_vocab, target_vocab, err);
        if (!rc) {
            s->target_vocab = target_vocab;
            s->n_always = h->n_always;
            s->wide = h->id_bytes == 4;
            s->first = (const uint32_t *)(h + 1);
            s->always = s->first + source_vocab + 1;
            s->ids = (const char *)s->always + (size_t)h->id_bytes * h->n_always;
            rc = check_lists(s, h, path, err);
        }
    }
    if (rc)
        dg_shortlist_close(s);
    else
        *out = s;
    return rc;
}

void dg_shortlist_close(struct dg_shortlist *s)
{
    if (!s)
        return;
    dg_file_unmap(&s->map);
    free(s);
}

size_t dg_shortlist_words(const struct dg_shortlist *s)
{
    return (s->target_vocab + 63) / 64;
}

static void mark(uint64_t *bits, uint32_t id)
{
    bits[id / 64] |= (uint64_t)1 << id % 64;
}

size_t dg_shortlist_select(const struct dg_shortlist *s, const struct dg_shortlist_need *need,
    uint64_t *bits, int32_t *ids, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_always; i++)
        mark(bits, id_at(s, s->always, i));
    for (size_t i = 0; i < need->n_more; i++)
        mark(bits, (uint32_t)need->more[i]);
    for (size_t i = 0; i < need->n_source; i++)
        for (uint32_t k = s->first[need->source[i]]; k < s->first[need->source[i] + 1]; k++)
            mark(bits, id_at(s, s->ids, k));
    for (size_t w = 0; w < dg_shortlist_words(s); w++) {
        for (uint64_t left = bits[w]; left; left &= left - 1) {
            if (n < cap)
                ids[n] = (int32_t)(w * 64 + (size_t)__builtin_ctzll(left));
            n++;
        }
        bits[w] = 0;
    }
    return n <= cap ? n : 0;
}

static void add_ids(struct dg_buffer *b, const uint32_t *ids, size_t n, bool wide)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t narrow = (uint16_t)ids[i];
        if (wide)
            dg_buffer_add(b, &ids[i], sizeof ids[i]);
        else
            dg_buffer_add(b, &narrow, sizeof narrow);
    }
}

int dg_shortlist_write(const char *path, const struct dg_shortlist_data *d, struct dg_error *err)
{
    const bool wide = d->target_vocab > 65536;
    struct header h = {.version = 1,
        .source_vocab = d->source_vocab,
        .target_vocab = d->target_vocab,
        .n_always = d->n_always,
        .n_ids = d->first[d->source_vocab],
        .id_bytes = wide ? 4 : 2};
    struct dg_buffer b;
    memcpy(h.magic, MAGIC, sizeof h.magic);
    h.file_bytes = size_of(&h);
    dg_buffer_init(&b);
    dg_buffer_add(&b, &h, sizeof h);
    dg_buffer_add(&b, d->first, ((size_t)d->source_vocab + 1) * sizeof *d->first);
    add_ids(&b, d->always, d->n_always, wide);
    add_ids(&b, d->ids, h.n_ids, wide);
    int rc = b.failed ? dg_error_set(err, DG_ENOMEM, "no memory for %s", path) : 0;
    if (!rc) {
        const size_t skip = offsetof(struct header, version);
        h.checksum = XXH3_64bits(b.data + skip, b.len - skip);
        memcpy(b.data, &h, sizeof h);
        rc = dg_file_write(path, b.data, b.len, err);
    }
    dg_buffer_deinit(&b);
    return rc;
}
