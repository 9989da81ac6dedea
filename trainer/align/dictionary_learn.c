/* DESIGN. Words are counted, every pair of sentences is written as numbers of its frequent words
 * into a temporary shard, and a lexicon is learned from that in each direction. Case is ignored up
 * to here; an entry then has the form that its word usually has within sentences. */
#include "trainer/align/dictionary_internal.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "text/letter_case.h"
#include "text/words.h"
#include "trainer/data/dataset.h"
#include "trainer/data/string_table.h"
#include "trainer/align/lexicon.h"
#include "trainer/data/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 100 };            /* per side: longer sentences are left out of the lexicons */
enum { LEAST_ALIGNED = 3 };          /* occurrences that a word needs for the lexicons */
enum { LEAST = 5, LEAST_ALONE = 2 }; /* and for the dictionary: in all, and standing alone */
static const float least_p = 0.2f;   /* probability of a translation */

/* One side's words. A form is a word as written; its key is the word in lower case. */
struct side {
    const char *language;
    struct dg_string_table *forms, *keys;
    /* [forms] */
    struct form {
        uint32_t key;
        /* occurrences standing alone, except as a sentence's first word, whose case may differ */
        uint32_t within;
    } * of_form;
    /* [keys] */
    struct key {
        /* occurrences in all, and standing alone */
        uint32_t count, alone;
        /* most probable translation: a key of the other side */
        uint32_t best;
        /* probability of that translation; 0: none */
        float p;
    } * of_key;
    size_t forms_cap, keys_cap;
};

struct learning {
    const struct dg_dictionary_options *o;
    /* source, target */
    struct side sides[2];
    struct dg_buffer small;
    int32_t ids[2][MAX_WORDS + 1];
    /* path of the temporary shard of word numbers */
    char *path;
};

static int add_key(struct learning *l, struct side *side, const char *s, size_t n, uint32_t *key,
    struct dg_error *err)
{
    const uint32_t known = dg_string_table_count(side->keys);
    dg_buffer_reset(&l->small);
    int rc = dg_letter_case_lower(side->language, s, n, &l->small, err);
    dg_alloc_check(!l->small.failed, "a word");
    if (!rc)
        rc = dg_string_table_add(
            side->keys, l->small.data ? l->small.data : "", l->small.len, key, err);
    if (rc || *key < known)
        return rc;
    side->of_key = dg_alloc_grow(
        side->of_key, (size_t)*key + 1, &side->keys_cap, sizeof *side->of_key, "a list of words");
    side->of_key[*key] = (struct key){0};
    return 0;
}

/* Finds the number of the word s[n] as it is written; a new word is added. */
static int find_form(struct learning *l, struct side *side, const char *s, size_t n, uint32_t *form,
    struct dg_error *err)
{
    uint32_t known = dg_string_table_count(side->forms);
    int rc = dg_string_table_add(side->forms, s, n, form, err);
    if (rc || *form < known)
        return rc;
    side->of_form = dg_alloc_grow(side->of_form, (size_t)*form + 1, &side->forms_cap,
        sizeof *side->of_form, "a list of words");
    side->of_form[*form] = (struct form){0};
    return add_key(l, side, s, n, &side->of_form[*form].key, err);
}

static int count_line(
    struct learning *l, struct side *side, const char *s, size_t n, struct dg_error *err)
{
    bool alone, first = true;
    uint32_t form;
    for (size_t begin, end = 0; (end = dg_word_next(s, n, end, &begin, &alone)) > 0;
         first = false) {
        int rc = find_form(l, side, s + begin, end - begin, &form, err);
        if (rc)
            return rc;
        side->of_form[form].within += alone && !first;
        side->of_key[side->of_form[form].key].count++;
        side->of_key[side->of_form[form].key].alone += alone;
    }
    return 0;
}

/* Lists the keys of the line's words that are frequent enough, then the number of </s>; *count 0:
 * too many words. */
static int number_line(
    struct learning *l, int i, const char *s, size_t n, uint32_t *count, struct dg_error *err)
{
    struct side *side = &l->sides[i];
    bool alone;
    uint32_t form, k = 0;
    *count = 0;
    for (size_t begin, end = 0; (end = dg_word_next(s, n, end, &begin, &alone)) > 0;) {
        int rc = find_form(l, side, s + begin, end - begin, &form, err);
        if (rc)
            return rc;
        uint32_t key = side->of_form[form].key;
        if (side->of_key[key].count < LEAST_ALIGNED)
            continue;
        if (k == MAX_WORDS)
            return 0;
        l->ids[i][k++] = (int32_t)key;
    }
    l->ids[i][k++] = (int32_t)dg_string_table_count(side->keys);
    *count = k;
    return 0;
}

/* Reads the next pair to learn from, after *taken others: 1; 0 at the end; negative on error. */
static int next_pair(struct dg_pairs *pairs, const struct dg_dictionary_options *o, uint64_t *taken,
    struct dg_pair *p, struct dg_error *err)
{
    int got;
    if (o->most_pairs && *taken == o->most_pairs)
        return 0;
    while ((got = dg_pairs_next(pairs, p, err)) > 0)
        if (!p->left_out && p->pair == o->pair)
            break;
    *taken += got > 0;
    return got;
}

static int count_words(struct learning *l, struct dg_pairs *pairs, struct dg_error *err)
{
    struct dg_pair p;
    uint64_t taken = 0;
    int got = 0, rc = dg_pairs_rewind(pairs, err);
    while (!rc && (got = next_pair(pairs, l->o, &taken, &p, err)) > 0) {
        rc = count_line(l, &l->sides[0], p.source, p.source_len, err);
        if (!rc)
            rc = count_line(l, &l->sides[1], p.target, p.target_len, err);
    }
    return rc ? rc : got;
}

static int write_pair(
    struct learning *l, const struct dg_pair *p, struct dg_shard_writer *w, struct dg_error *err)
{
    struct dg_shard_entry entry = {.weight = 1};
    int rc = number_line(l, 0, p->source, p->source_len, &entry.source_len, err);
    if (!rc)
        rc = number_line(l, 1, p->target, p->target_len, &entry.target_len, err);
    if (rc || entry.source_len < 2 || entry.target_len < 2)
        return rc;
    return dg_shard_add(w, &entry, l->ids[0], l->ids[1], err);
}

/* Writes the pairs as numbers of words into a temporary shard at l->path; *any: whether it has any
 * pair. */
static int number_words(struct learning *l, struct dg_pairs *pairs, bool *any, struct dg_error *err)
{
    struct dg_shard_writer *w = NULL;
    struct dg_pair p;
    uint64_t taken = 0;
    int got = 0, rc = dg_pairs_rewind(pairs, err);
    if (!rc)
        rc = dg_shard_begin(l->path, dg_string_table_count(l->sides[0].keys) + 1,
            dg_string_table_count(l->sides[1].keys) + 1, &w, err);
    while (!rc && (got = next_pair(pairs, l->o, &taken, &p, err)) > 0)
        rc = write_pair(l, &p, w, err);
    rc = rc ? rc : got;
    *any = !rc && dg_shard_tokens(w) > 0;
    if (*any)
        return dg_shard_commit_take(w, NULL, err);
    dg_shard_abort(w);
    return rc;
}

/* Finds every word's most probable translation, from side 0 to side 1 or in reverse. */
static void translate_words(struct learning *l, const struct dg_dataset *d, bool reversed)
{
    struct side *from = &l->sides[reversed], *to = &l->sides[!reversed];
    const uint32_t n_from = dg_string_table_count(from->keys),
                   n_to = dg_string_table_count(to->keys);
    const struct dg_lexicon_options o = {.source_vocab = n_from + 1,
        .target_vocab = n_to + 1,
        .source_eos = (int32_t)n_from,
        .target_eos = (int32_t)n_to,
        .pairs = DG_LEXICON_PAIRS,
        .reversed = reversed};
    const struct dg_translation *list = NULL;
    struct dg_lexicon *lexicon = dg_lexicon_new(d, &o);
    size_t n = dg_lexicon_translations(lexicon, least_p, &list);
    for (size_t i = 0; i < n; i++) { /* the most probable comes first */
        struct key *key = &from->of_key[list[i].source];
        if (key->p > 0)
            continue;
        key->best = list[i].target;
        key->p = list[i].p;
    }
    dg_lexicon_free(lexicon);
}

/* Returns [keys]: the form (+ 1) of each key that occurs most often within sentences, the first of
 * equal ones; 0: none does. Caller frees. */
static uint32_t *usual_forms(const struct side *side)
{
    const uint32_t n_keys = dg_string_table_count(side->keys),
                   n_forms = dg_string_table_count(side->forms);
    uint32_t *usual = dg_alloc(n_keys + 1, sizeof *usual, "the usual forms of words");
    for (uint32_t f = 0; f < n_forms; f++) {
        uint32_t *at = &usual[side->of_form[f].key];
        if (side->of_form[f].within > (*at ? side->of_form[*at - 1].within : 0))
            *at = f + 1;
    }
    return usual;
}

static bool is_worth_it(const struct side *side, uint32_t key, const uint32_t *usual)
{
    size_t n;
    dg_string_table_text(side->keys, key, &n);
    return side->of_key[key].count >= LEAST && side->of_key[key].alone >= LEAST_ALONE &&
           usual[key] && n > 1;
}

struct span {
    const char *s;
    size_t n;
};

static bool same(struct span a, struct span b)
{
    return a.n == b.n && memcmp(a.s, b.s, a.n) == 0;
}

static int keep(struct dg_dictionary *w, struct span s, struct span t, bool there, bool back,
    struct dg_error *err)
{
    const struct dg_dictionary_entry e = {.source = s.s,
        .target = t.s,
        .source_len = (uint32_t)s.n,
        .target_len = (uint32_t)t.n,
        .there = there,
        .back = back};
    return !same(s, t) && (there || back) ? dg_dictionary_add(w, &e, err) : 0;
}

/* Append s with a capital first letter. */
static int add_capital(
    const char *language, struct span s, struct dg_buffer *out, struct dg_error *err)
{
    size_t first = dg_letter_case_first_letter(s.s, s.n);
    int rc = dg_letter_case_upper(language, s.s, first, out, err);
    dg_buffer_add(out, s.s + first, s.n - first);
    return rc;
}

/* Keeps a word and its translation, as written within sentences and as at their beginning. A word
 * that always has a capital is given a translation with a capital. */
static int keep_both(struct learning *l, struct dg_dictionary *w, uint32_t source_form,
    uint32_t target_form, struct dg_error *err)
{
    struct span s, t;
    s.s = dg_string_table_text(l->sides[0].forms, source_form, &s.n);
    t.s = dg_string_table_text(l->sides[1].forms, target_form, &t.n);
    dg_buffer_reset(&l->small);
    int rc = add_capital(l->sides[0].language, s, &l->small, err);
    size_t end = l->small.len;
    if (!rc)
        rc = add_capital(l->sides[1].language, t, &l->small, err);
    if (rc)
        return rc;
    dg_alloc_check(!l->small.failed, "a word");
    const struct span big_s = {l->small.data, end},
                      big_t = {l->small.data + end, l->small.len - end};
    rc = keep(w, s, t, !same(s, big_s), !same(t, big_t), err);
    return rc ? rc : keep(w, big_s, big_t, true, true, err);
}

/* Keeps the words that are each other's most probable translation. */
static int choose(struct learning *l, struct dg_dictionary *w, struct dg_error *err)
{
    const struct side *s = &l->sides[0], *t = &l->sides[1];
    uint32_t *usual_source = usual_forms(s), *usual_target = usual_forms(t);
    int rc = 0;
    for (uint32_t key = 0; !rc && key < dg_string_table_count(s->keys); key++) {
        uint32_t other = s->of_key[key].best;
        if (s->of_key[key].p > 0 && t->of_key[other].p > 0 && t->of_key[other].best == key &&
            is_worth_it(s, key, usual_source) && is_worth_it(t, other, usual_target))
            rc = keep_both(l, w, usual_source[key] - 1, usual_target[other] - 1, err);
    }
    free(usual_source);
    free(usual_target);
    return rc;
}

static int learn(
    struct learning *l, struct dg_pairs *pairs, struct dg_dictionary *w, struct dg_error *err)
{
    const struct dg_dataset_options data = {.batch_tokens = 1, .window = 1};
    const char *const paths[] = {l->path};
    struct dg_dataset *d = NULL;
    bool any;
    int rc = count_words(l, pairs, err);
    if (!rc)
        rc = number_words(l, pairs, &any, err);
    if (rc || !any)
        return rc;
    rc = dg_dataset_open_shards(paths, 1, &data, &d, err);
    for (int reversed = 0; reversed < 2 && !rc; reversed++)
        translate_words(l, d, reversed);
    dg_dataset_close(d);
    remove(l->path);
    return rc ? rc : choose(l, w, err);
}

static void open_side(struct side *side, const char *language)
{
    side->language = language;
    side->forms = dg_string_table_new();
    side->keys = dg_string_table_new();
}

static void close_side(struct side *side)
{
    dg_string_table_free(side->forms);
    dg_string_table_free(side->keys);
    free(side->of_form);
    free(side->of_key);
}

int dg_dictionary_learn(struct dg_pairs *pairs, const struct dg_dictionary_options *o,
    struct dg_dictionary **out, struct dg_error *err)
{
    struct learning *l = dg_alloc(1, sizeof *l, "a dictionary");
    struct dg_dictionary *w = dg_dictionary_new();
    l->o = o;
    dg_buffer_init(&l->small);
    l->path = dg_alloc_path(o->dir, "words.shard");
    open_side(&l->sides[0], o->source_lang);
    open_side(&l->sides[1], o->target_lang);
    int rc = learn(l, pairs, w, err);
    close_side(&l->sides[0]);
    close_side(&l->sides[1]);
    dg_buffer_deinit(&l->small);
    free(l->path);
    free(l);
    if (rc) {
        dg_dictionary_close(w);
        return rc;
    }
    *out = w;
    return 0;
}
