#include "model/byte_pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What an unfinished character needs: `left` more bytes, the next one from low to high. */
struct need {
    uint8_t low, high, left;
};

int dg_byte_pieces_open(
    const int32_t id[256], uint32_t V, struct dg_byte_pieces **out, struct dg_error *err)
{
    bool any = false;
    *out = NULL;
    for (int b = 0; b < 256; b++)
        any = any || id[b] >= 0;
    if (!any)
        return DG_OK;
    struct dg_byte_pieces *p = calloc(1, sizeof *p);
    if (!p || !(p->of = malloc(V * sizeof *p->of))) {
        free(p);
        return dg_error_set(err, DG_ENOMEM, "no memory for %u pieces", V);
    }
    memset(p->of, 0xff, V * sizeof *p->of); /* -1 */
    memcpy(p->id, id, sizeof p->id);
    for (int b = 0; b < 256; b++)
        if (id[b] >= 0)
            p->of[id[b]] = (int16_t)b;
    *out = p;
    return DG_OK;
}

void dg_byte_pieces_close(struct dg_byte_pieces *p)
{
    if (!p)
        return;
    free(p->of);
    free(p);
}

static void add(struct dg_byte_rule *r, int byte)
{
    r->has[byte / 64] |= UINT64_C(1) << (byte % 64);
}

static bool has(const struct dg_byte_rule *r, int byte)
{
    return r->has[byte / 64] >> (byte % 64) & 1;
}

struct dg_byte_rule dg_byte_rule_of(
    const struct dg_byte_pieces *pieces, const int32_t *ids, uint32_t n)
{
    struct dg_byte_rule r = {.pieces = pieces};
    for (int b = 0; pieces && !ids && b < 256; b++)
        if (pieces->id[b] >= 0)
            add(&r, b);
    for (uint32_t i = 0; pieces && i < n; i++)
        if (pieces->of[ids[i]] >= 0)
            add(&r, pieces->of[ids[i]]);
    return r;
}

/* What must follow a character's first byte (Unicode, table 3-7): no overlong form, no surrogate,
 * nothing past U+10FFFF, no control character of U+0080 .. U+009F. left 0: the byte begins no
 * character of several bytes. */
static struct need after_first(int byte)
{
    if (byte < 0xC2 || byte > 0xF4)
        return (struct need){0};
    switch (byte) {
    case 0xC2: return (struct need){0xA0, 0xBF, 1};
    case 0xE0: return (struct need){0xA0, 0xBF, 2};
    case 0xED: return (struct need){0x80, 0x9F, 2};
    case 0xF0: return (struct need){0x90, 0xBF, 3};
    case 0xF4: return (struct need){0x80, 0x8F, 3};
    default: return (struct need){0x80, 0xBF, (uint8_t)(byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3)};
    }
}

/* What the unfinished character at the end of ids[n] needs, judged from its first byte on; left 0:
 * there is none. */
static struct need need_after(const struct dg_byte_rule *r, const int32_t *ids, uint32_t n)
{
    const int16_t *of = r->pieces->of;
    for (uint32_t back = 1; back <= 3 && back <= n; back++) {
        const int byte = of[ids[n - back]];
        if (byte < 0x80) /* not a byte piece, or a character of one byte */
            break;
        if (byte < 0xC0)
            continue;
        struct need c = after_first(byte);
        for (uint32_t i = n - back + 1; i < n && c.left; i++)
            c = (struct need){0x80, 0xBF, (uint8_t)(c.left - 1)};
        return c;
    }
    return (struct need){0};
}

/* True if the search has byte pieces that complete a character with this need after its first
 * byte. */
static bool leads_on(const struct dg_byte_rule *r, struct need c)
{
    bool next = false, last = c.left < 2;
    for (int b = 0x80; b <= 0xBF; b++) {
        next = next || (b >= c.low && b <= c.high && has(r, b));
        last = last || has(r, b);
    }
    return next && last;
}

/* True if the byte may begin a character, with room for this many pieces after it. */
static bool may_begin(const struct dg_byte_rule *r, int byte, uint32_t room)
{
    if (byte < 0x80)
        return byte >= 0x20 && byte < 0x7F;
    const struct need c = after_first(byte);
    return c.left > 0 && c.left <= room && leads_on(r, c);
}

bool dg_byte_rule_within(const struct dg_byte_rule *r, const int32_t *ids, uint32_t n)
{
    return r->pieces && need_after(r, ids, n).left > 0;
}

bool dg_byte_rule_allows(
    const struct dg_byte_rule *r, const int32_t *ids, uint32_t n, int32_t next, uint32_t room)
{
    if (!r->pieces)
        return true;
    const struct need c = need_after(r, ids, n);
    const int byte = r->pieces->of[next];
    if (c.left)
        return byte >= c.low && byte <= c.high;
    return byte < 0 || may_begin(r, byte, room);
}

void dg_byte_rule_forbid(const struct dg_byte_rule *r, const int32_t *ids, uint32_t n,
    uint32_t room, float *x, uint32_t V)
{
    if (!r->pieces)
        return;
    const struct need c = need_after(r, ids, n);
    for (uint32_t i = 0; c.left && i < V; i++)
        if (r->pieces->of[i] < c.low || r->pieces->of[i] > c.high)
            x[i] = -INFINITY;
    for (int b = 0; !c.left && b < 256; b++)
        if (r->pieces->id[b] >= 0 && !may_begin(r, b, room))
            x[r->pieces->id[b]] = -INFINITY;
}
