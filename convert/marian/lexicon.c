#include "convert/marian/lexicon.h"

#include "base/file.h"
#include "weights/shortlist.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0xF11A48D5013417F5u
enum { HEAD_BYTES = 48 };

#define REFUSE(...) dg_error_field(err, DG_EFORMAT, "shortlist", __VA_ARGS__)

static uint64_t u64_at(const unsigned char *p, size_t i)
{
    uint64_t v;
    memcpy(&v, p + i * sizeof v, sizeof v);
    return v;
}

static uint32_t u32_at(const unsigned char *p, size_t i)
{
    uint32_t v;
    memcpy(&v, p + i * sizeof v, sizeof v);
    return v;
}

/* Covers the whole words after the checksum; an odd last id is not covered. */
static uint64_t checksum(const unsigned char *p, size_t size)
{
    uint64_t h = 0;
    for (size_t i = 0; i < size / 8; i++)
        h ^= u64_at(p, i) + 0x9e3779b9u + (h << 6) + (h >> 2);
    return h;
}

int dg_marian_lexicon_read(
    const void *data, size_t size, struct dg_marian_lexicon *out, struct dg_error *err)
{
    const unsigned char *p = data;
    if (size < HEAD_BYTES || u64_at(p, 0) != MAGIC)
        return REFUSE("no binary lexical shortlist: it does not begin with Marian's number");
    const uint64_t n = u64_at(p, 4), entries = u64_at(p, 5);
    if (n < 2 || n > size / 8 || entries > size / 4 || size != HEAD_BYTES + 8 * n + 4 * entries)
        return REFUSE(
            "%zu bytes, its header says %" PRIu64 " offsets and %" PRIu64 " ids", size, n, entries);
    if (u64_at(p, 1) != checksum(p + 16, size - 16))
        return REFUSE("the checksum is wrong");
    *out = (struct dg_marian_lexicon){.first = u64_at(p, 2),
        .n_source = (uint32_t)(n - 1),
        .offsets = p + HEAD_BYTES,
        .ids = p + HEAD_BYTES + 8 * n};
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t at = u64_at(out->offsets, i);
        if (at > entries || (i ? at < u64_at(out->offsets, i - 1) : at != 0) ||
            (i == n - 1 && at != entries))
            return REFUSE("offset %" PRIu64 " is %" PRIu64 " of %" PRIu64, i, at, entries);
    }
    return 0;
}

/* Copy the lists; if the pieces are shared, add each source piece to its own list. */
static int make_lists(const struct dg_marian_lexicon *l, bool shared, uint32_t *first,
    uint32_t *ids, uint32_t target_vocab, struct dg_error *err)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < l->n_source; s++) {
        bool own = !shared;
        first[s] = n;
        for (uint64_t k = u64_at(l->offsets, s); k < u64_at(l->offsets, s + 1); k++) {
            const uint32_t id = u32_at(l->ids, k);
            if (id >= target_vocab)
                return REFUSE(
                    "piece %u has the target id %u, the vocabulary has %u", s, id, target_vocab);
            own = own || id == s;
            ids[n++] = id;
        }
        if (!own)
            ids[n++] = s;
    }
    first[l->n_source] = n;
    return 0;
}

static int write_lists(const struct dg_marian_lexicon *l, uint32_t source_vocab,
    uint32_t target_vocab, bool shared, const char *out, struct dg_error *err)
{
    const uint64_t entries = u64_at(l->offsets, l->n_source);
    if (l->n_source != source_vocab || (shared && source_vocab != target_vocab))
        return REFUSE("it is for %u source pieces, the model has %u", l->n_source, source_vocab);
    if (l->first < 1 || l->first > target_vocab || entries + source_vocab > UINT32_MAX)
        return REFUSE(
            "%" PRIu64 " pieces are always in, the vocabulary has %u", l->first, target_vocab);
    const uint32_t n_always = (uint32_t)l->first;
    uint32_t *always = malloc(n_always * sizeof *always),
             *first = malloc(((size_t)source_vocab + 1) * sizeof *first),
             *ids = malloc((size_t)(entries + source_vocab) * sizeof *ids);
    int rc = always && first && ids ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for a shortlist");
    for (uint32_t i = 0; i < n_always && !rc; i++)
        always[i] = i;
    if (!rc)
        rc = make_lists(l, shared, first, ids, target_vocab, err);
    const struct dg_shortlist_data d = {source_vocab, target_vocab, always, n_always, first, ids};
    if (!rc)
        rc = dg_shortlist_write(out, &d, err);
    free(always);
    free(first);
    free(ids);
    return rc;
}

int dg_marian_lexicon_import(const char *path, uint32_t source_vocab, uint32_t target_vocab,
    bool shared, const char *out, struct dg_error *err)
{
    struct dg_map map = {0};
    struct dg_marian_lexicon l;
    int rc = dg_file_map(path, &map, err);
    if (rc)
        return rc;
    rc = dg_marian_lexicon_read(map.data, map.size, &l, err);
    if (!rc)
        rc = write_lists(&l, source_vocab, target_vocab, shared, out, err);
    if (rc)
        dg_error_prefix(err, "%s", path);
    dg_file_unmap(&map);
    return rc;
}
