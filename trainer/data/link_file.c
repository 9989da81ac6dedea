#include "trainer/data/link_file.h"

#include "base/alloc.h"
#include "base/file.h"
#include "trainer/data/hash.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 64
#define MAGIC "DGLINKS1"

struct footer {
    struct dg_link_info info;
    /* XXH3-64 of info */
    uint64_t check;
};

_Static_assert(sizeof(struct dg_link) == 4, "the file holds links as they are");
_Static_assert(sizeof(struct footer) == 48, "the file ends with a footer as it is");

struct dg_link_file {
    struct dg_map map;
    const struct dg_link *links;
    /* [sentences + 1] */
    const uint64_t *first;
};

static uint64_t round8(uint64_t n)
{
    return (n + 7) & ~UINT64_C(7);
}

/* ---- Reading ---- */

static int check_footer(struct dg_link_file *f, const char *path, const struct dg_shard *shard,
    const struct dg_link_info **out, struct dg_error *err)
{
    const unsigned char *data = f->map.data;
    const size_t size = f->map.size, least = HEAD_BYTES + sizeof(struct footer) + 8;
    if (size < least || size % 8 || memcmp(data, MAGIC, 8) != 0)
        return dg_error_field(
            err, DG_EFORMAT, "magic", "%s does not hold alignments (%zu bytes)", path, size);
    const struct footer *foot = (const void *)(data + size - sizeof *foot);
    const struct dg_link_info *i = &foot->info;
    if (dg_hash64(i, sizeof *i) != foot->check || i->bytes != size)
        return dg_error_field(
            err, DG_EFORMAT, "footer", "%s: the footer's checksum does not match", path);
    if (i->sentences != dg_shard_info(shard)->sentences ||
        i->shard != dg_shard_info(shard)->checksum)
        return dg_error_field(err, DG_EFORMAT, "shard",
            "%s belongs to another shard, of %llu pairs", path, (unsigned long long)i->sentences);
    if (i->links > size / sizeof(struct dg_link) ||
        HEAD_BYTES + round8(i->links * sizeof(struct dg_link)) + (i->sentences + 1) * 8 +
                sizeof *foot !=
            size)
        return dg_error_field(err, DG_EFORMAT, "links", "%s has no room for its %llu links", path,
            (unsigned long long)i->links);
    f->links = (const void *)(data + HEAD_BYTES);
    f->first = (const void *)(data + HEAD_BYTES + round8(i->links * sizeof(struct dg_link)));
    *out = i;
    return 0;
}

/* True if all links are within their pair and in the order of their queries. */
static bool are_in_range(const struct dg_link *l, uint64_t n, const struct dg_shard_entry *e)
{
    for (uint64_t i = 0; i < n; i++)
        if (l[i].query >= e->target_len || l[i].key >= e->source_len ||
            (i && l[i].query < l[i - 1].query))
            return false;
    return true;
}

static int check_links(const struct dg_link_file *f, const char *path, const struct dg_shard *shard,
    const struct dg_link_info *info, struct dg_error *err)
{
    const struct dg_shard_entry *e = dg_shard_entries(shard);
    bool good = f->first[0] == 0 && f->first[info->sentences] == info->links;
    uint64_t i = 0;
    for (; i < info->sentences && good; i++)
        good = f->first[i] <= f->first[i + 1] && f->first[i + 1] <= info->links &&
               are_in_range(f->links + f->first[i], f->first[i + 1] - f->first[i], &e[i]);
    return good ? 0
                : dg_error_field(err, DG_EFORMAT, "links",
                      "%s: the links of pair %llu are out of range or order", path,
                      (unsigned long long)(i ? i - 1 : 0));
}

int dg_link_file_open(
    const char *path, const struct dg_shard *shard, struct dg_link_file **out, struct dg_error *err)
{
    const struct dg_link_info *info = NULL;
    *out = NULL;
    struct dg_link_file *f = dg_alloc(1, sizeof *f, "an open file");
    int rc = dg_file_map(path, &f->map, err);
    if (rc == 0)
        rc = check_footer(f, path, shard, &info, err);
    if (rc == 0)
        rc = check_links(f, path, shard, info, err);
    if (rc) {
        dg_link_file_close(f);
        return rc;
    }
    *out = f;
    return 0;
}

void dg_link_file_close(struct dg_link_file *f)
{
    if (!f)
        return;
    dg_file_unmap(&f->map);
    free(f);
}

const struct dg_link *dg_link_file_links(const struct dg_link_file *f, uint64_t i, size_t *n)
{
    *n = (size_t)(f->first[i + 1] - f->first[i]);
    return f->links + f->first[i];
}

/* ---- Writing ---- */

struct dg_link_file_writer {
    struct dg_file_writer *file;
    struct dg_hasher *hash;
    /* [cap] */
    uint64_t *first;
    size_t cap;
    struct dg_link_info info;
};

static int append(struct dg_link_file_writer *w, const void *data, size_t n, struct dg_error *err)
{
    dg_hasher_add(w->hash, data, n);
    return dg_file_append(w->file, data, n, err);
}

int dg_link_file_begin(const char *path, struct dg_link_file_writer **out, struct dg_error *err)
{
    static const char head[HEAD_BYTES] = MAGIC;
    *out = NULL;
    struct dg_link_file_writer *w = dg_alloc(1, sizeof *w, "a file being written");
    w->first = dg_alloc_grow(NULL, 1, &w->cap, sizeof *w->first, "alignments");
    w->first[0] = 0;
    w->hash = dg_hasher_new();
    int rc = dg_file_begin(path, &w->file, err);
    if (rc == 0)
        rc = dg_file_append(w->file, head, sizeof head, err);
    if (rc) {
        dg_link_file_abort(w);
        return rc;
    }
    *out = w;
    return 0;
}

int dg_link_file_add(
    struct dg_link_file_writer *w, const struct dg_link *links, size_t n, struct dg_error *err)
{
    w->first = dg_alloc_grow(
        w->first, (size_t)w->info.sentences + 2, &w->cap, sizeof *w->first, "alignments");
    int rc = n ? append(w, links, n * sizeof *links, err) : 0;
    if (rc == 0) {
        w->info.links += n;
        w->first[++w->info.sentences] = w->info.links;
    }
    return rc;
}

int dg_link_file_commit_take(struct dg_link_file_writer *w, const struct dg_shard *shard,
    struct dg_link_info *info, struct dg_error *err)
{
    static const char zeros[8];
    const uint64_t bytes = w->info.links * sizeof(struct dg_link),
                   index = (w->info.sentences + 1) * sizeof *w->first;
    struct footer foot;
    int rc = append(w, zeros, (size_t)(round8(bytes) - bytes), err);
    if (rc == 0)
        rc = append(w, w->first, (size_t)index, err);
    if (rc == 0) {
        w->info.shard = dg_shard_info(shard)->checksum;
        w->info.checksum = dg_hasher_64(w->hash);
        w->info.bytes = HEAD_BYTES + round8(bytes) + index + sizeof foot;
        foot.info = w->info;
        foot.check = dg_hash64(&foot.info, sizeof foot.info);
        rc = dg_file_append(w->file, &foot, sizeof foot, err);
    }
    if (rc == 0) {
        rc = dg_file_commit_take(w->file, err);
        w->file = NULL;
    }
    *info = w->info;
    dg_link_file_abort(w);
    return rc;
}

void dg_link_file_abort(struct dg_link_file_writer *w)
{
    if (!w)
        return;
    if (w->file)
        dg_file_abort(w->file);
    dg_hasher_free(w->hash);
    free(w->first);
    free(w);
}
