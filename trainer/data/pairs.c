#include "trainer/data/pairs.h"

#include "base/alloc.h"
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_BYTES ((size_t)1 << 18)

struct record {
    uint32_t pair, file, domain;
    float weight;
    uint32_t back_translated;
    uint32_t source_len, target_len;
};

struct dg_pairs {
    FILE *file;
    /* pairs added; pairs still to be read; pairs left out */
    uint64_t n, left, n_out;
    /* [n] enum dg_drop; NULL: none is left out */
    unsigned char *left_out;
    /* text of the pair being read */
    char *text;
    size_t cap;
};

static int failed(struct dg_error *err, const char *what)
{
    return dg_error_set(
        err, DG_EIO, "cannot %s the temporary file of clean pairs: %s", what, strerror(errno));
}

int dg_pairs_open(const char *dir, struct dg_pairs **out, struct dg_error *err)
{
    FILE *file;
    *out = NULL;
    int rc = dg_file_temporary(dir, &file, err);
    if (rc)
        return rc;
    setvbuf(file, NULL, _IOFBF, STREAM_BYTES);
    *out = dg_alloc(1, sizeof **out, "clean pairs");
    (*out)->file = file;
    return 0;
}

void dg_pairs_close(struct dg_pairs *p)
{
    if (!p)
        return;
    if (p->file)
        fclose(p->file);
    free(p->left_out);
    free(p->text);
    free(p);
}

int dg_pairs_add(struct dg_pairs *p, const struct dg_pair *a, struct dg_error *err)
{
    struct record r = {
        a->pair, a->file, a->domain, a->weight, a->back_translated, a->source_len, a->target_len};
    if (fwrite(&r, sizeof r, 1, p->file) != 1 ||
        fwrite(a->source, 1, a->source_len, p->file) != a->source_len ||
        fwrite(a->target, 1, a->target_len, p->file) != a->target_len)
        return failed(err, "write");
    p->n++;
    return 0;
}

int dg_pairs_rewind(struct dg_pairs *p, struct dg_error *err)
{
    if (fflush(p->file) || fseeko(p->file, 0, SEEK_SET))
        return failed(err, "rewind");
    p->left = p->n;
    return 0;
}

int dg_pairs_next(struct dg_pairs *p, struct dg_pair *out, struct dg_error *err)
{
    struct record r;
    if (p->left == 0)
        return 0;
    if (fread(&r, sizeof r, 1, p->file) != 1)
        return failed(err, "read");
    size_t need = (size_t)r.source_len + r.target_len + 1;
    if (need > p->cap) {
        p->text = dg_alloc_more(p->text, 2 * need, 1, "a pair of sentences");
        p->cap = 2 * need;
    }
    if (fread(p->text, 1, need - 1, p->file) != need - 1)
        return failed(err, "read");
    const uint64_t item = p->n - p->left--;
    *out = (struct dg_pair){.item = item,
        .left_out = p->left_out ? p->left_out[item] : 0,
        .pair = r.pair,
        .file = r.file,
        .domain = r.domain,
        .weight = r.weight,
        .back_translated = r.back_translated,
        .source_len = r.source_len,
        .target_len = r.target_len,
        .source = p->text,
        .target = p->text + r.source_len};
    return 1;
}

void dg_pairs_leave_out(struct dg_pairs *p, uint64_t item, int why)
{
    if (!p->left_out)
        p->left_out = dg_alloc((size_t)p->n, 1, "pairs that are left out");
    p->n_out += !p->left_out[item];
    p->left_out[item] = (unsigned char)why;
}

uint64_t dg_pairs_kept_count(const struct dg_pairs *p)
{
    return p->n - p->n_out;
}

uint64_t dg_pairs_count(const struct dg_pairs *p)
{
    return p->n;
}
