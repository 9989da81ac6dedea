#include "trainer/data/dedup.h"

#include "base/alloc.h"
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A partition of 24-byte records is sorted in memory: 36 million pairs make partitions of 13 MB. */
#define PARTITIONS 64

struct record {
    struct dg_hash128 hash;
    uint64_t item;
};

struct dg_dedup {
    FILE *parts[PARTITIONS];
    uint64_t counts[PARTITIONS], n;
};

int dg_dedup_open(const char *dir, struct dg_dedup **out, struct dg_error *err)
{
    *out = NULL;
    struct dg_dedup *d = dg_alloc(1, sizeof *d, "the search for duplicates");
    int rc = 0;
    for (int i = 0; i < PARTITIONS && rc == 0; i++)
        rc = dg_file_temporary(dir, &d->parts[i], err);
    if (rc) {
        dg_dedup_close(d);
        return rc;
    }
    *out = d;
    return 0;
}

void dg_dedup_close(struct dg_dedup *d)
{
    if (!d)
        return;
    for (int i = 0; i < PARTITIONS; i++)
        if (d->parts[i])
            fclose(d->parts[i]);
    free(d);
}

int dg_dedup_add(struct dg_dedup *d, struct dg_hash128 h, struct dg_error *err)
{
    struct record r = {h, d->n++};
    unsigned part = (unsigned)(h.high >> 58); /* 6 bits: 64 partitions */
    d->counts[part]++;
    if (fwrite(&r, sizeof r, 1, d->parts[part]) != 1)
        return dg_error_set(err, DG_EIO, "cannot write hashes of lines: %s", strerror(errno));
    return 0;
}

static int by_hash_and_item(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    if (x->hash.high != y->hash.high)
        return x->hash.high < y->hash.high ? -1 : 1;
    if (x->hash.low != y->hash.low)
        return x->hash.low < y->hash.low ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static int finish_part(struct dg_dedup *d, int part, void (*repeated)(void *arg, uint64_t item),
    void *arg, struct dg_error *err)
{
    size_t n = (size_t)d->counts[part];
    struct record *r = dg_alloc(n + 1, sizeof *r, "the hashes of lines");
    FILE *f = d->parts[part];
    if (fflush(f) || fseeko(f, 0, SEEK_SET) || fread(r, sizeof *r, n, f) != n) {
        free(r);
        return dg_error_set(err, DG_EIO, "cannot read back hashes of lines: %s", strerror(errno));
    }
    fclose(f);
    d->parts[part] = NULL;
    qsort(r, n, sizeof *r, by_hash_and_item);
    for (size_t i = 1; i < n; i++)
        if (r[i].hash.high == r[i - 1].hash.high && r[i].hash.low == r[i - 1].hash.low)
            repeated(arg, r[i].item);
    free(r);
    return 0;
}

int dg_dedup_finish(
    struct dg_dedup *d, void (*repeated)(void *arg, uint64_t item), void *arg, struct dg_error *err)
{
    int rc = 0;
    for (int i = 0; i < PARTITIONS && rc == 0; i++)
        rc = finish_part(d, i, repeated, arg, err);
    return rc;
}

struct dg_hash_set {
    /* a slot with low 0 and high 0 is free */
    struct dg_hash128 *slots;
    uint64_t mask, n;
};

struct dg_hash_set *dg_hash_set_new(void)
{
    struct dg_hash_set *s = dg_alloc(1, sizeof *s, "held-out lines");
    s->slots = dg_alloc(1024, sizeof *s->slots, "held-out lines");
    s->mask = 1023;
    return s;
}

void dg_hash_set_free(struct dg_hash_set *s)
{
    if (!s)
        return;
    free(s->slots);
    free(s);
}

static uint64_t find_slot(const struct dg_hash_set *s, struct dg_hash128 h)
{
    uint64_t i = h.low & s->mask;
    while ((s->slots[i].low || s->slots[i].high) &&
           (s->slots[i].low != h.low || s->slots[i].high != h.high))
        i = (i + 1) & s->mask;
    return i;
}

static void grow(struct dg_hash_set *s)
{
    struct dg_hash_set bigger = {
        dg_alloc(2 * (s->mask + 1), sizeof *s->slots, "held-out lines"), 2 * s->mask + 1, s->n};
    for (uint64_t i = 0; i <= s->mask; i++)
        if (s->slots[i].low || s->slots[i].high)
            bigger.slots[find_slot(&bigger, s->slots[i])] = s->slots[i];
    free(s->slots);
    *s = bigger;
}

void dg_hash_set_add(struct dg_hash_set *s, struct dg_hash128 h)
{
    if (2 * s->n > s->mask)
        grow(s);
    uint64_t i = find_slot(s, h);
    if (!s->slots[i].low && !s->slots[i].high) {
        s->slots[i] = h;
        s->n++;
    }
}

bool dg_hash_set_has(const struct dg_hash_set *s, struct dg_hash128 h)
{
    uint64_t i = find_slot(s, h);
    return s->slots[i].low || s->slots[i].high;
}
