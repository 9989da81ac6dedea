/* Ranges of words between two empty tags, such as a bookmark's or a comment's. */
#include "documents/office/pieces.h"

#include <string.h>

/* Slots that an end is compared with, to keep the time linear. */
#define MAX_BACK 1000

void dg_ranges_read(const struct dg_runs *r, const struct dg_xml_tag *t, struct dg_piece *p)
{
    /* attributes with the same value at both ends of a range */
    static const char *const keys[] = {
        "w:id", "text:name", "text:change-id", "text:id", "office:name"};
    const char *const *names = r->names->ranges;
    for (size_t i = 0; names && names[i]; i++) {
        if (!dg_runs_is(r, t, names[i]))
            continue;
        for (size_t k = 0; k < sizeof keys / sizeof *keys && !p->range; k++)
            if (dg_xml_attribute(&r->xml, t, keys[k], &p->key, &p->key_end))
                p->range = i + 1;
        return;
    }
}

bool dg_ranges_extend(struct dg_pieces *q, size_t i)
{
    const struct dg_xml *x = &q->r->xml;
    const char *const name = q->r->names->reference;
    struct dg_piece *last = q->n > 0 ? &q->list[q->n - 1] : NULL;
    if (!name || !last || !last->range || last->end != x->tags[i].begin)
        return false;
    for (size_t k = i + 1; k < x->tags[i].partner; k++) {
        if (!dg_runs_is(q->r, &x->tags[k], name))
            continue;
        last->end = x->tags[x->tags[i].partner].end;
        return true;
    }
    return false;
}

static bool is_end_of(const char *s, const struct dg_slot *end, const struct dg_slot *start)
{
    return start->range + 1 == end->range &&
           start->key_end - start->key == end->key_end - end->key &&
           memcmp(s + start->key, s + end->key, end->key_end - end->key) == 0;
}

void dg_ranges_link(const char *s, struct dg_segment *g)
{
    for (size_t i = 0; i < g->n_slots; i++) {
        struct dg_slot *end = &g->slots[i];
        if (end->range == 0 || end->range % 2 == 1)
            continue;
        for (size_t k = i; k-- > 0 && i - k <= MAX_BACK && end->start == 0;)
            if (is_end_of(s, end, &g->slots[k]))
                end->start = k + 1;
    }
}
