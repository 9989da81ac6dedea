#include "trainer/data/string_table.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "trainer/data/hash.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    uint64_t hash;
    /* offset in the table's text, in bytes */
    size_t text;
    size_t len;
};

struct dg_string_table {
    struct dg_buffer text;
    /* [cap] */
    struct entry *entries;
    /* [2 * cap], open addressing: number + 1, 0: empty */
    uint32_t *slots;
    /* cap: a power of two */
    uint32_t n, cap;
};

struct dg_string_table *dg_string_table_new(void)
{
    struct dg_string_table *t = dg_alloc(1, sizeof *t, "a table of strings");
    dg_buffer_init(&t->text);
    return t;
}

void dg_string_table_free(struct dg_string_table *t)
{
    if (!t)
        return;
    dg_buffer_deinit(&t->text);
    free(t->entries);
    free(t->slots);
    free(t);
}

/* Returns the slot of s, or the empty slot where it belongs. */
static uint32_t *slot_of(const struct dg_string_table *t, uint64_t hash, const char *s, size_t n)
{
    uint32_t mask = 2 * t->cap - 1, i = (uint32_t)hash & mask;
    for (; t->slots[i]; i = (i + 1) & mask) {
        const struct entry *e = &t->entries[t->slots[i] - 1];
        if (e->hash == hash && e->len == n && memcmp(t->text.data + e->text, s, n) == 0)
            break;
    }
    return &t->slots[i];
}

static int grow(struct dg_string_table *t, struct dg_error *err)
{
    if (t->cap >= UINT32_C(1) << 29)
        return dg_error_set(err, DG_ELIMIT, "more than %u different strings", t->cap);
    uint32_t cap = t->cap ? 2 * t->cap : 1024;
    t->entries = dg_alloc_more(t->entries, cap, sizeof *t->entries, "a table of strings");
    uint32_t *slots = dg_alloc((size_t)2 * cap, sizeof *slots, "a table of strings");
    free(t->slots);
    t->slots = slots;
    t->cap = cap;
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t mask = 2 * cap - 1, k = (uint32_t)t->entries[i].hash & mask;
        while (slots[k])
            k = (k + 1) & mask;
        slots[k] = i + 1;
    }
    return 0;
}

int dg_string_table_add(
    struct dg_string_table *t, const char *s, size_t n, uint32_t *id, struct dg_error *err)
{
    if (t->n == t->cap) {
        int rc = grow(t, err);
        if (rc)
            return rc;
    }
    uint64_t hash = dg_hash64(s, n);
    uint32_t *slot = slot_of(t, hash, s, n);
    if (!*slot) {
        t->entries[t->n] = (struct entry){hash, t->text.len, n};
        dg_buffer_add(&t->text, s, n);
        dg_alloc_check(!t->text.failed, "strings");
        *slot = ++t->n;
    }
    *id = *slot - 1;
    return 0;
}

bool dg_string_table_find(const struct dg_string_table *t, const char *s, size_t n, uint32_t *id)
{
    const uint32_t *slot = t->cap ? slot_of(t, dg_hash64(s, n), s, n) : NULL;
    if (!slot || !*slot)
        return false;
    *id = *slot - 1;
    return true;
}

uint32_t dg_string_table_count(const struct dg_string_table *t)
{
    return t->n;
}

const char *dg_string_table_text(const struct dg_string_table *t, uint32_t id, size_t *n)
{
    *n = t->entries[id].len;
    return t->text.data + t->entries[id].text;
}
