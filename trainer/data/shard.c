#include "trainer/data/shard.h"

#include "base/alloc.h"
#include "base/file.h"
#include "trainer/data/hash.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 64
#define MAGIC "DGSHARD1"

struct footer {
    struct dg_shard_info info;
    /* XXH3-64 of info */
    uint64_t check;
};

_Static_assert(sizeof(struct dg_shard_entry) == 24, "the file holds entries as they are");
_Static_assert(sizeof(struct footer) == 72, "the file ends with a footer as it is");

struct dg_shard {
    struct dg_map map;
    char *path;
    const struct dg_shard_info *info;
    /* [sentences] */
    const struct dg_shard_entry *entries;
    const unsigned char *ids;
};

static uint64_t round8(uint64_t n)
{
    return (n + 7) & ~UINT64_C(7);
}

static int wrong(const struct dg_shard *s, struct dg_error *err, const char *field, uint64_t is,
    uint64_t expected)
{
    return dg_error_field(err, DG_EFORMAT, field, "%s: %s is %llu, expected %llu", s->path, field,
        (unsigned long long)is, (unsigned long long)expected);
}

static int check_footer(struct dg_shard *s, struct dg_error *err)
{
    const unsigned char *data = s->map.data;
    size_t size = s->map.size;
    if (size < HEAD_BYTES + sizeof(struct footer) || size % 8 || memcmp(data, MAGIC, 8) != 0)
        return dg_error_field(err, DG_EFORMAT, "magic",
            "%s is not a shard of encoded sentences (%zu bytes)", s->path, size);
    const struct footer *f = (const void *)(data + size - sizeof *f);
    s->info = &f->info;
    if (dg_hash64(&f->info, sizeof f->info) != f->check)
        return dg_error_field(
            err, DG_EFORMAT, "footer", "%s: the footer's checksum does not match", s->path);
    if (f->info.bytes != size)
        return wrong(s, err, "bytes", f->info.bytes, size);
    if (f->info.id_bytes != 2 && f->info.id_bytes != 4)
        return wrong(s, err, "id_bytes", f->info.id_bytes, 2);
    uint64_t room = size - HEAD_BYTES - sizeof *f;
    uint64_t tokens = f->info.source_tokens + f->info.target_tokens;
    if (f->info.source_tokens > room || f->info.target_tokens > room || f->info.sentences > room)
        return wrong(s, err, "sentences", f->info.sentences, room / sizeof(struct dg_shard_entry));
    uint64_t ids = round8(tokens * f->info.id_bytes),
             entries = f->info.sentences * sizeof(struct dg_shard_entry);
    if (ids + entries != room)
        return wrong(s, err, "source_tokens", ids + entries, room);
    s->ids = data + HEAD_BYTES;
    s->entries = (const void *)(data + HEAD_BYTES + ids);
    return 0;
}

/* Entries are adjacent, so begin and the totals check each other. */
static int check_entries(const struct dg_shard *s, struct dg_error *err)
{
    uint64_t source = 0, target = 0;
    for (uint64_t i = 0; i < s->info->sentences; i++) {
        const struct dg_shard_entry *e = &s->entries[i];
        if (e->begin != source + target)
            return wrong(s, err, "begin", e->begin, source + target);
        if (e->source_len == 0 || e->target_len == 0)
            return dg_error_field(err, DG_EFORMAT, "length", "%s: pair %llu has an empty side",
                s->path, (unsigned long long)i);
        source += e->source_len;
        target += e->target_len;
    }
    if (source != s->info->source_tokens)
        return wrong(s, err, "source_tokens", s->info->source_tokens, source);
    if (target != s->info->target_tokens)
        return wrong(s, err, "target_tokens", s->info->target_tokens, target);
    return 0;
}

int dg_shard_open(const char *path, struct dg_shard **out, struct dg_error *err)
{
    *out = NULL;
    struct dg_shard *s = dg_alloc(1, sizeof *s, "a shard");
    s->path = dg_alloc_string(path);
    int rc = dg_file_map(path, &s->map, err);
    if (rc == 0)
        rc = check_footer(s, err);
    if (rc == 0)
        rc = check_entries(s, err);
    if (rc) {
        dg_shard_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

void dg_shard_close(struct dg_shard *s)
{
    if (!s)
        return;
    dg_file_unmap(&s->map);
    free(s->path);
    free(s);
}

const struct dg_shard_info *dg_shard_info(const struct dg_shard *s)
{
    return s->info;
}

const struct dg_shard_entry *dg_shard_entries(const struct dg_shard *s)
{
    return s->entries;
}

static void copy_ids(const struct dg_shard *s, uint64_t begin, uint32_t n, int32_t *out)
{
    if (s->info->id_bytes == 4) {
        memcpy(out, s->ids + begin * 4, (size_t)n * 4);
        return;
    }
    const uint16_t *ids = (const uint16_t *)(const void *)s->ids + begin;
    for (uint32_t i = 0; i < n; i++)
        out[i] = ids[i];
}

void dg_shard_ids(const struct dg_shard *s, uint64_t i, int32_t *source, int32_t *target)
{
    const struct dg_shard_entry *e = &s->entries[i];
    if (source)
        copy_ids(s, e->begin, e->source_len, source);
    if (target)
        copy_ids(s, e->begin + e->source_len, e->target_len, target);
}

static int check_id(
    const struct dg_shard *s, uint64_t sentence, uint64_t at, uint32_t vocab, struct dg_error *err)
{
    int32_t id;
    copy_ids(s, at, 1, &id);
    if (id >= 0 && (uint32_t)id < vocab)
        return 0;
    return dg_error_field(err, DG_EFORMAT, "id",
        "%s: pair %llu has the id %d, the vocabulary has %u pieces", s->path,
        (unsigned long long)sentence, (int)id, vocab);
}

int dg_shard_verify(const struct dg_shard *s, struct dg_error *err)
{
    uint64_t sum = dg_hash64(s->ids, s->map.size - HEAD_BYTES - sizeof(struct footer));
    if (sum != s->info->checksum)
        return dg_error_field(
            err, DG_EFORMAT, "checksum", "%s: the checksum does not match", s->path);
    int rc = 0;
    for (uint64_t i = 0; i < s->info->sentences && rc == 0; i++) {
        const struct dg_shard_entry *e = &s->entries[i];
        for (uint32_t j = 0; j < e->source_len && rc == 0; j++)
            rc = check_id(s, i, e->begin + j, s->info->source_vocab, err);
        for (uint32_t j = 0; j < e->target_len && rc == 0; j++)
            rc = check_id(s, i, e->begin + e->source_len + j, s->info->target_vocab, err);
    }
    return rc;
}

struct dg_shard_writer {
    struct dg_file_writer *file;
    struct dg_hasher *hash;
    struct dg_shard_info info;
    /* [info.sentences] */
    struct dg_shard_entry *entries;
    size_t cap;
};

int dg_shard_begin(const char *path, uint32_t source_vocab, uint32_t target_vocab,
    struct dg_shard_writer **out, struct dg_error *err)
{
    static const char head[HEAD_BYTES] = MAGIC;
    *out = NULL;
    struct dg_shard_writer *w = dg_alloc(1, sizeof *w, "a shard");
    w->hash = dg_hasher_new();
    w->info.id_bytes = source_vocab <= 65536 && target_vocab <= 65536 ? 2 : 4;
    w->info.source_vocab = source_vocab;
    w->info.target_vocab = target_vocab;
    int rc = dg_file_begin(path, &w->file, err);
    if (rc == 0)
        rc = dg_file_append(w->file, head, sizeof head, err);
    if (rc) {
        dg_shard_abort(w);
        return rc;
    }
    *out = w;
    return 0;
}

static int append(struct dg_shard_writer *w, const void *data, size_t n, struct dg_error *err)
{
    dg_hasher_add(w->hash, data, n);
    return dg_file_append(w->file, data, n, err);
}

static int append_ids(
    struct dg_shard_writer *w, const int32_t *ids, uint32_t n, struct dg_error *err)
{
    uint16_t narrow[256];
    if (w->info.id_bytes == 4)
        return append(w, ids, (size_t)n * 4, err);
    for (uint32_t i = 0; i < n;) {
        uint32_t m = n - i < 256 ? n - i : 256;
        for (uint32_t j = 0; j < m; j++)
            narrow[j] = (uint16_t)ids[i + j];
        int rc = append(w, narrow, (size_t)m * 2, err);
        if (rc)
            return rc;
        i += m;
    }
    return 0;
}

int dg_shard_add(struct dg_shard_writer *w, const struct dg_shard_entry *entry,
    const int32_t *source, const int32_t *target, struct dg_error *err)
{
    w->entries = dg_alloc_grow(w->entries, (size_t)w->info.sentences + 1, &w->cap,
        sizeof *w->entries, "the index of a shard");
    int rc = append_ids(w, source, entry->source_len, err);
    if (rc == 0)
        rc = append_ids(w, target, entry->target_len, err);
    if (rc)
        return rc;
    struct dg_shard_entry *e = &w->entries[w->info.sentences++];
    *e = *entry;
    e->begin = w->info.source_tokens + w->info.target_tokens;
    w->info.source_tokens += entry->source_len;
    w->info.target_tokens += entry->target_len;
    return 0;
}

int dg_shard_commit_take(
    struct dg_shard_writer *w, struct dg_shard_info *info, struct dg_error *err)
{
    static const char zeros[8];
    uint64_t ids = dg_shard_tokens(w) * w->info.id_bytes,
             index = w->info.sentences * sizeof *w->entries;
    struct footer f;
    int rc = append(w, zeros, (size_t)(round8(ids) - ids), err);
    if (rc == 0 && index)
        rc = append(w, w->entries, (size_t)index, err);
    if (rc == 0) {
        w->info.checksum = dg_hasher_64(w->hash);
        w->info.bytes = HEAD_BYTES + round8(ids) + index + sizeof f;
        f.info = w->info;
        f.check = dg_hash64(&f.info, sizeof f.info);
        rc = dg_file_append(w->file, &f, sizeof f, err);
    }
    if (rc == 0) {
        rc = dg_file_commit_take(w->file, err);
        w->file = NULL;
    }
    if (rc == 0 && info)
        *info = w->info;
    dg_shard_abort(w);
    return rc;
}

void dg_shard_abort(struct dg_shard_writer *w)
{
    if (!w)
        return;
    if (w->file)
        dg_file_abort(w->file);
    dg_hasher_free(w->hash);
    free(w->entries);
    free(w);
}

uint64_t dg_shard_tokens(const struct dg_shard_writer *w)
{
    return w->info.source_tokens + w->info.target_tokens;
}
