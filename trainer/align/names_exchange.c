/* Finds the names of a list in a pair, and writes the pair with others. */
#include "trainer/align/names_internal.h"

#include "trainer/data/hash.h"

#include <string.h>

enum { MOST_WORDS = 4, MOST_FOUND = 8 };

/* A name in a text. */
struct found {
    size_t begin, end;
    uint32_t name;
};

/* True for bytes of words; those of other scripts and of signs such as ’ count, too. */
static bool in_word(unsigned char c)
{
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t word_end(const char *s, size_t n, size_t at)
{
    while (at < n && in_word((unsigned char)s[at]))
        at++;
    return at;
}

/* The end of the longest name that begins with the word at s[at]; 0: none does. */
static size_t name_end(
    const struct dg_string_table *names, const char *s, size_t n, size_t at, uint32_t *name)
{
    size_t ends[MOST_WORDS], k = 0;
    for (size_t end = at; k < MOST_WORDS; end++) {
        ends[k++] = end = word_end(s, n, end);
        if (end + 1 >= n || (s[end] != ' ' && s[end] != '-') || !in_word((unsigned char)s[end + 1]))
            break;
    }
    while (k > 0) {
        const size_t end = ends[--k];
        const bool part = end + 1 < n && s[end] == '-' && in_word((unsigned char)s[end + 1]);
        if (!part && dg_string_table_find(names, s + at, end - at, name))
            return end;
    }
    return 0;
}

/* Finds the names in s[n]; returns how many, at most MOST_FOUND. */
static size_t find(
    const struct dg_string_table *names, const char *s, size_t n, struct found out[MOST_FOUND])
{
    size_t count = 0;
    for (size_t at = 0; at < n && count < MOST_FOUND;) {
        struct found *f = &out[count];
        if (!in_word((unsigned char)s[at])) {
            at++;
            continue;
        }
        f->begin = at;
        f->end = at && s[at - 1] == '-' ? 0 : name_end(names, s, n, at, &f->name);
        count += f->end > 0;
        at = f->end ? f->end : word_end(s, n, at);
    }
    return count;
}

/* The only place of this name among f[n]; n: there are several. */
static size_t only(const struct found *f, size_t n, uint32_t name)
{
    size_t at = n;
    for (size_t i = 0; i < n; i++) {
        if (f[i].name != name)
            continue;
        if (at < n)
            return n;
        at = i;
    }
    return at;
}

/* The names that give way: their places on both sides, and the entries that come and go. */
struct swap {
    struct found from[2][MOST_FOUND];
    uint32_t old[MOST_FOUND], new[MOST_FOUND];
    size_t n;
};

/* True if a name at this place of the target gives way already. */
static bool is_going(const struct swap *w, size_t begin)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->from[1][i].begin == begin)
            return true;
    return false;
}

/* Finds the entry of which s is the source name and t the target name. */
static bool find_entry(const struct dg_name_lists *p, uint32_t s, uint32_t t, uint32_t *entry)
{
    const uint32_t name[2] = {s, t};
    char both[512];
    size_t len = 0;
    for (int i = 0; i < 2; i++) {
        size_t n;
        const char *text = dg_string_table_text(p->names[i], name[i], &n);
        if (len + n + 1 > sizeof both)
            return false;
        memcpy(both + len, text, n);
        len += n;
        if (i == 0)
            both[len++] = '\t';
    }
    return dg_string_table_find(p->both, both, len, entry);
}

static bool is_taken(const struct swap *w, uint32_t entry)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->old[i] == entry || w->new[i] == entry)
            return true;
    return false;
}

/* Draws an entry for the one that goes; false: its group has no other. */
static bool draw(
    const struct dg_name_lists *p, struct swap *w, uint32_t old, uint64_t item, uint64_t round)
{
    const struct dg_name_group *g = &p->groups[p->entries[old].group];
    const uint64_t seed[3] = {item, round, old};
    const uint64_t first = dg_hash64(seed, sizeof seed);
    w->old[w->n] = old;
    for (uint32_t i = 0; i < g->n; i++) {
        const uint32_t entry = p->order[g->begin + (first + i) % g->n];
        if (entry == old || is_taken(w, entry))
            continue;
        w->new[w->n++] = entry;
        return true;
    }
    return false;
}

static void find_swaps(
    const struct dg_name_lists *p, const struct dg_pair *pair, uint64_t round, struct swap *w)
{
    struct found f[2][MOST_FOUND];
    size_t n[2];
    w->n = 0;
    n[0] = find(p->names[0], pair->source, pair->source_len, f[0]);
    n[1] = n[0] ? find(p->names[1], pair->target, pair->target_len, f[1]) : 0;
    for (size_t i = 0; i < n[0]; i++)
        for (size_t k = 0; k < n[1]; k++) {
            uint32_t entry;
            if (only(f[0], n[0], f[0][i].name) != i || only(f[1], n[1], f[1][k].name) != k ||
                is_going(w, f[1][k].begin) || !find_entry(p, f[0][i].name, f[1][k].name, &entry))
                continue;
            w->from[0][w->n] = f[0][i];
            w->from[1][w->n] = f[1][k];
            draw(p, w, entry, pair->item, round);
            break;
        }
}

/* The swap whose name is next on this side, at or after `at`; w->n: there is none. */
static size_t next_swap(const struct swap *w, int side, size_t at)
{
    size_t next = w->n;
    for (size_t i = 0; i < w->n; i++)
        if (w->from[side][i].begin >= at &&
            (next == w->n || w->from[side][i].begin < w->from[side][next].begin))
            next = i;
    return next;
}

/* Appends s[n] with the new names. */
static void write_side(const struct dg_name_lists *p, const struct swap *w, int side, const char *s,
    size_t n, struct dg_buffer *out)
{
    size_t at = 0, i;
    while ((i = next_swap(w, side, at)) < w->n) {
        size_t len;
        const char *both = dg_string_table_text(p->both, w->new[i], &len);
        const char *tab = memchr(both, '\t', len);
        const size_t source = (size_t)(tab - both);
        dg_buffer_add(out, s + at, w->from[side][i].begin - at);
        dg_buffer_add(out, side ? tab + 1 : both, side ? len - source - 1 : source);
        at = w->from[side][i].end;
    }
    dg_buffer_add(out, s + at, n - at);
}

bool dg_names_exchange(
    const struct dg_names *n, const struct dg_pair *p, uint64_t round, struct dg_buffer text[2])
{
    const struct dg_name_lists *list = &n->pairs[p->pair];
    struct swap w;
    find_swaps(list, p, round, &w);
    if (!w.n)
        return false;
    write_side(list, &w, 0, p->source, p->source_len, &text[0]);
    write_side(list, &w, 1, p->target, p->target_len, &text[1]);
    return true;
}
