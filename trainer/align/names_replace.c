/* Finds the names of a list in a pair, and writes the pair with other names. */
#include "trainer/align/names_internal.h"

#include "text/scan.h"
#include "text/words.h"
#include "trainer/data/hash.h"

#include <string.h>

enum { MOST_WORDS = 4 };

/* ---- Finding ---- */

/* A name in a text. */
struct found {
    struct dg_name_place place;
    uint32_t name;
};

/* True if a word that ends at s[end] is the beginning of a longer one: Munich-based, A380. */
static bool goes_on(const char *s, size_t n, size_t end)
{
    return dg_scan_is_digit(dg_scan_peek(s, end, n)) ||
           (end < n && s[end] == '-' && dg_scan_is_letter(dg_scan_peek(s, end + 1, n)));
}

/* The end of the longest name that begins with the word s[begin, end), of words joined by a space
 * or a hyphen; 0: there is none. */
static size_t name_end(const struct dg_string_table *names, const char *s, size_t n, size_t begin,
    size_t end, uint32_t *name)
{
    size_t ends[MOST_WORDS] = {end}, k = 1, next;
    bool alone;
    while (k < MOST_WORDS && end < n && (s[end] == ' ' || s[end] == '-')) {
        const size_t stop = dg_word_next(s, n, end, &next, &alone);
        if (!stop || next != end + 1)
            break;
        ends[k++] = end = stop;
    }
    while (k-- > 0)
        if (!goes_on(s, n, ends[k]) &&
            dg_string_table_find(names, s + begin, ends[k] - begin, name))
            return ends[k];
    return 0;
}

/* Finds the names in s[n]; returns how many, at most DG_NAMES_MOST. */
static size_t find(
    const struct dg_string_table *names, const char *s, size_t n, struct found out[DG_NAMES_MOST])
{
    size_t count = 0, begin, end = 0;
    bool alone;
    while (count < DG_NAMES_MOST && (end = dg_word_next(s, n, end, &begin, &alone)) > 0) {
        struct found *f = &out[count];
        const size_t stop =
            begin && s[begin - 1] == '-' ? 0 : name_end(names, s, n, begin, end, &f->name);
        if (!stop)
            continue;
        f->place = (struct dg_name_place){begin, stop};
        count++;
        end = stop;
    }
    return count;
}

/* True if f[at] is the only one of f[n] with its name. */
static bool is_only(const struct found *f, size_t n, size_t at)
{
    for (size_t i = 0; i < n; i++)
        if (i != at && f[i].name == f[at].name)
            return false;
    return true;
}

/* Finds the entry of which s is the source name and t the target name. */
static bool find_entry(const struct dg_name_lists *l, uint32_t s, uint32_t t, uint32_t *entry)
{
    const uint32_t name[2] = {s, t};
    char both[512];
    size_t len = 0;
    for (int i = 0; i < 2; i++) {
        size_t n;
        const char *text = dg_string_table_text(l->names[i], name[i], &n);
        if (len + n + 1 > sizeof both)
            return false;
        memcpy(both + len, text, n);
        len += n;
        if (i == 0)
            both[len++] = '\t';
    }
    return dg_string_table_find(l->both, both, len, entry);
}

/* True if the name at this place of the target belongs to another one of the source. */
static bool is_used(const struct dg_name_places *w, const struct found *target)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->at[1][i].begin == target->place.begin)
            return true;
    return false;
}

void dg_names_find(const struct dg_names *n, const struct dg_pair *p, struct dg_name_places *out)
{
    const struct dg_name_lists *l = &n->pairs[p->pair];
    struct found s[DG_NAMES_MOST], t[DG_NAMES_MOST];
    const size_t n_s = find(l->names[0], p->source, p->source_len, s),
                 n_t = n_s ? find(l->names[1], p->target, p->target_len, t) : 0;
    out->n = 0;
    for (size_t i = 0; i < n_s; i++)
        for (size_t k = 0; is_only(s, n_s, i) && k < n_t; k++) {
            if (!is_only(t, n_t, k) || is_used(out, &t[k]) ||
                !find_entry(l, s[i].name, t[k].name, &out->entry[out->n]))
                continue;
            out->at[0][out->n] = s[i].place;
            out->at[1][out->n++] = t[k].place;
            break;
        }
}

/* ---- Replacing ---- */

static bool is_in(const uint32_t *list, size_t n, uint32_t entry)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == entry)
            return true;
    return false;
}

/* Draws another entry for each of the pair's: entry[places->n]. Returns whether any is another; one
 * stays where its group has no other. */
static bool draw(const struct dg_name_lists *l, const struct dg_name_places *places, uint64_t item,
    uint64_t round, uint32_t entry[DG_NAMES_MOST])
{
    bool any = false;
    for (size_t i = 0; i < places->n; i++) {
        const uint32_t old = places->entry[i];
        const struct dg_name_group *g = &l->groups[l->entries[old].group];
        const uint64_t seed[3] = {item, round, old}, first = dg_hash64(seed, sizeof seed);
        entry[i] = old;
        for (uint32_t k = 0; k < g->n && entry[i] == old; k++) {
            const uint32_t new = l->order[g->begin + (first + k) % g->n];
            if (!is_in(places->entry, i, new) && !is_in(entry, i, new))
                entry[i] = new;
        }
        any |= entry[i] != old;
    }
    return any;
}

/* The first name on this side at or after byte `at`; places->n: there is none. */
static size_t next_name(const struct dg_name_places *places, int side, size_t at)
{
    const struct dg_name_place *p = places->at[side];
    size_t next = places->n;
    for (size_t i = 0; i < places->n; i++)
        if (p[i].begin >= at && (next == places->n || p[i].begin < p[next].begin))
            next = i;
    return next;
}

/* Appends s[n] with the entries' names. */
static void write_side(const struct dg_name_lists *l, const struct dg_name_places *places,
    const uint32_t *entry, int side, const char *s, size_t n, struct dg_buffer *out)
{
    size_t at = 0, i;
    while ((i = next_name(places, side, at)) < places->n) {
        size_t len;
        const char *both = dg_string_table_text(l->both, entry[i], &len);
        const char *tab = memchr(both, '\t', len);
        const size_t source = (size_t)(tab - both);
        dg_buffer_add(out, s + at, places->at[side][i].begin - at);
        dg_buffer_add(out, side ? tab + 1 : both, side ? len - source - 1 : source);
        at = places->at[side][i].end;
    }
    dg_buffer_add(out, s + at, n - at);
}

bool dg_names_replace(const struct dg_names *n, const struct dg_pair *p,
    const struct dg_name_places *places, uint64_t round, struct dg_buffer text[2])
{
    const struct dg_name_lists *l = &n->pairs[p->pair];
    uint32_t entry[DG_NAMES_MOST];
    if (!draw(l, places, p->item, round, entry))
        return false;
    write_side(l, places, entry, 0, p->source, p->source_len, &text[0]);
    write_side(l, places, entry, 1, p->target, p->target_len, &text[1]);
    return true;
}
