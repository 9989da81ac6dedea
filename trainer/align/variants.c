#include "trainer/align/variants.h"

#include "base/alloc.h"
#include "text/letter_case.h"
#include "trainer/data/hash.h"
#include "trainer/data/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOINED_BYTES = 200 }; /* per side: longer lines are not joined */

enum { LONGEST_NUMBER = 18 }; /* digits: one draw gives no more */

enum kind { UPPER, BARE, JOINED, NUMBERS, KINDS };

void dg_variants_init(
    struct dg_variants *v, const struct dg_recipe *recipe, struct dg_names *const *names)
{
    *v = (struct dg_variants){.recipe = recipe, .names = names};
    v->names_used = dg_alloc(recipe->data.n_names, sizeof *v->names_used, "names");
    for (int i = 0; i < 2; i++) {
        dg_buffer_init(&v->last[i]);
        dg_buffer_init(&v->text[i]);
    }
}

void dg_variants_deinit(struct dg_variants *v)
{
    for (int i = 0; i < 2; i++) {
        dg_buffer_deinit(&v->last[i]);
        dg_buffer_deinit(&v->text[i]);
    }
    free(v->names_used);
}

bool dg_variants_wanted(const struct dg_recipe *recipe)
{
    const struct dg_recipe_variants *w = &recipe->variants;
    return w->upper > 0 || w->no_full_stop > 0 || w->joined > 0 || w->numbers > 0 || w->words > 0 ||
           w->mask > 0 || w->signs > 0 || recipe->data.n_names > 0;
}

static bool chosen(double share, uint64_t item, int kind)
{
    uint64_t number[2] = {item, (uint64_t)kind};
    return dg_random_share(dg_hash64(number, sizeof number)) < share;
}

static bool ends_in_full_stop(const char *s, size_t n)
{
    return n > 2 && s[n - 1] == '.' && s[n - 2] != '.';
}

/* True if both pairs are short and from the same file and domain. */
static bool fit_together(const struct dg_pair *a, const struct dg_pair *b)
{
    return a->source && a->file == b->file && a->domain == b->domain &&
           a->source_len <= JOINED_BYTES && a->target_len <= JOINED_BYTES &&
           b->source_len <= JOINED_BYTES && b->target_len <= JOINED_BYTES;
}

static int make_upper(struct dg_variants *v, const struct dg_pair *p, struct dg_error *err)
{
    const struct dg_recipe_pair *pair = &v->recipe->data.pairs[p->pair];
    int rc = dg_letter_case_upper(pair->source_lang, p->source, p->source_len, &v->text[0], err);
    return rc ? rc
              : dg_letter_case_upper(pair->target_lang, p->target, p->target_len, &v->text[1], err);
}

static void make_joined(struct dg_variants *v, const struct dg_pair *p)
{
    for (int i = 0; i < 2; i++) {
        dg_buffer_add(&v->text[i], v->last[i].data, v->last[i].len);
        dg_buffer_adds(&v->text[i], " ");
        dg_buffer_add(&v->text[i], i ? p->target : p->source, i ? p->target_len : p->source_len);
    }
}

/* The end of the digits at s[at]. */
static size_t digits_end(const char *s, size_t n, size_t at)
{
    while (at < n && s[at] >= '0' && s[at] <= '9')
        at++;
    return at;
}

/* How often s[n] contains the number d[d_len]. */
static size_t count_number(const char *s, size_t n, const char *d, size_t d_len)
{
    size_t count = 0;
    for (size_t at = 0, end; at < n; at = end + (end == at)) {
        end = digits_end(s, n, at);
        count += end - at == d_len && memcmp(s + at, d, d_len) == 0;
    }
    return count;
}

/* Appends another number with the same first digit, drawn from `item` and the number, so that both
 * sides of a pair get the same one. */
static void add_other_number(const char *s, size_t len, uint64_t item, struct dg_buffer *out)
{
    uint64_t seed[2] = {item, dg_hash64(s, len)}, draw = dg_hash64(seed, sizeof seed);
    dg_buffer_add(out, s, 1);
    for (size_t i = 1; i < len; i++, draw /= 10)
        dg_buffer_add(out, &"0123456789"[draw % 10], 1);
}

/* Appends s[n], replacing each number of two digits or more that occurs once in it and once in
 * `other`; returns how many it replaced. */
static size_t add_numbers(const char *s, size_t n, const char *other, size_t other_len,
    uint64_t item, struct dg_buffer *out)
{
    size_t changed = 0;
    for (size_t at = 0, end; at < n; at = end) {
        end = digits_end(s, n, at);
        size_t len = end - at;
        if (!len)
            end++; /* not a digit */
        bool both = len > 1 && len <= LONGEST_NUMBER && count_number(s, n, s + at, len) == 1 &&
                    count_number(other, other_len, s + at, len) == 1;
        if (both)
            add_other_number(s + at, len, item, out);
        else
            dg_buffer_add(out, s + at, end - at);
        changed += both;
    }
    return changed;
}

static bool make_numbers(struct dg_variants *v, const struct dg_pair *p)
{
    size_t changed =
        add_numbers(p->source, p->source_len, p->target, p->target_len, p->item, &v->text[0]);
    if (changed)
        add_numbers(p->target, p->target_len, p->source, p->source_len, p->item, &v->text[1]);
    return changed > 0;
}

/* Sets the list of names and its round that a kind from KINDS on stands for, and the share of pairs
 * that get this form. False: there is no such kind. */
static bool names_of(const struct dg_variants *v, int kind, size_t *list, int *round, double *share)
{
    const struct dg_recipe_data *d = &v->recipe->data;
    *round = kind - KINDS;
    for (*list = 0; *list < d->n_names; (*list)++) {
        const int rounds = (int)ceil(d->names[*list].forms);
        *share = d->names[*list].forms - *round;
        if (*round < rounds)
            return true;
        *round -= rounds;
    }
    return false;
}

/* The rounds of a list follow each other, and each pair with names gets the first one if there are
 * several. */
static bool make_names(struct dg_variants *v, const struct dg_pair *p, size_t list, uint64_t round)
{
    if (round == 0)
        dg_names_find(v->names[list], p, &v->places);
    return dg_names_replace(v->names[list], p, &v->places, round, v->text);
}

int dg_variants_make(struct dg_variants *v, const struct dg_pair *p, int kind, struct dg_pair *out,
    struct dg_error *err)
{
    const struct dg_recipe_variants *w = &v->recipe->variants;
    const double shares[KINDS] = {w->upper, w->no_full_stop, w->joined, w->numbers};
    double share = kind < KINDS ? shares[kind] : 0;
    size_t list = 0;
    int rc = 0, round = 0;
    if (kind >= KINDS && !names_of(v, kind, &list, &round, &share))
        return 0;
    if (!chosen(share, p->item, kind))
        return 2;
    dg_buffer_reset(&v->text[0]);
    dg_buffer_reset(&v->text[1]);
    if (kind == UPPER) {
        rc = make_upper(v, p, err);
    } else if (kind == BARE && ends_in_full_stop(p->source, p->source_len) &&
               ends_in_full_stop(p->target, p->target_len)) {
        dg_buffer_add(&v->text[0], p->source, p->source_len - 1);
        dg_buffer_add(&v->text[1], p->target, p->target_len - 1);
    } else if (kind == JOINED && fit_together(&v->before, p)) {
        make_joined(v, p);
    } else if (kind >= KINDS) {
        if (!make_names(v, p, list, (uint64_t)round))
            return 2;
        v->names_used[list] = true;
    } else if (kind != NUMBERS || !make_numbers(v, p)) {
        return 2;
    }
    dg_alloc_check(!v->text[0].failed && !v->text[1].failed, "another form of a pair");
    *out = *p;
    out->source = v->text[0].data;
    out->source_len = (uint32_t)v->text[0].len;
    out->target = v->text[1].data;
    out->target_len = (uint32_t)v->text[1].len;
    return rc ? rc : 1;
}

void dg_variants_next(struct dg_variants *v, const struct dg_pair *p)
{
    dg_buffer_reset(&v->last[0]);
    dg_buffer_reset(&v->last[1]);
    dg_buffer_add(&v->last[0], p->source, p->source_len);
    dg_buffer_add(&v->last[1], p->target, p->target_len);
    v->before = *p;
    v->before.source = v->last[0].data;
    v->before.target = v->last[1].data;
    dg_alloc_check(!v->last[0].failed && !v->last[1].failed, "the pair before");
}
