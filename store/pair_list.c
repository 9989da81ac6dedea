#include "store/pair_list.h"

#include "base/array.h"
#include "text/language_code.h"

#include <stdlib.h>
#include <string.h>

void dg_pair_list_init(struct dg_pair_list *l)
{
    memset(l, 0, sizeof *l);
    dg_arena_init(&l->arena, 0);
}

void dg_pair_list_deinit(struct dg_pair_list *l)
{
    dg_arena_deinit(&l->arena);
    free(l->list);
    memset(l, 0, sizeof *l);
}

int dg_pair_list_add(void *ctx, const struct dg_memory_pair *pair, struct dg_error *err)
{
    struct dg_pair_list *l = ctx;
    struct dg_memory_pair *grown = dg_array_grow(l->list, l->n, &l->cap, sizeof *grown);
    if (!grown)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu pairs", l->n + 1);
    l->list = grown;
    struct dg_memory_pair *p = &l->list[l->n];
    *p = (struct dg_memory_pair){dg_arena_strdup(&l->arena, pair->source_lang),
        dg_arena_strdup(&l->arena, pair->target_lang),
        dg_arena_strndup(&l->arena, pair->source, pair->source_len),
        pair->target ? dg_arena_strndup(&l->arena, pair->target, pair->target_len) : NULL,
        pair->source_len, pair->target_len};
    if (!p->source_lang || !p->target_lang || !p->source || (pair->target && !p->target))
        return dg_error_set(err, DG_ENOMEM, "no memory for pair %zu", l->n + 1);
    l->n++;
    return DG_OK;
}

enum closeness { OTHER_LANGUAGES, NARROWER_LANGUAGES, SAME_LANGUAGES, EXACT_LANGUAGES };

static enum closeness closeness(
    const struct dg_memory_pair *p, const char *source, const char *target)
{
    const int from = dg_language_distance(p->source_lang, source);
    const int to = from < 0 ? -1 : dg_language_distance(p->target_lang, target);
    if (to < 0)
        return OTHER_LANGUAGES;
    if (from == 0 && to == 0)
        return EXACT_LANGUAGES;
    const bool narrower = dg_language_says_more(from) || dg_language_says_more(to);
    return narrower ? NARROWER_LANGUAGES : SAME_LANGUAGES;
}

static bool has_codes_of(const struct dg_memory_pair *p, const struct dg_memory_pair *other)
{
    return strcmp(p->source_lang, other->source_lang) == 0 &&
           strcmp(p->target_lang, other->target_lang) == 0;
}

bool dg_pair_list_has_narrower(
    const struct dg_pair_list *l, const char *source_lang, const char *target_lang)
{
    bool found = false;
    for (size_t i = 0; i < l->n && !found; i++)
        if (i == 0 || !has_codes_of(&l->list[i], &l->list[i - 1]))
            found = closeness(&l->list[i], source_lang, target_lang) == NARROWER_LANGUAGES;
    return found;
}

int dg_pair_list_glossary(const struct dg_pair_list *l, const char *source_lang,
    const char *target_lang, bool narrower, struct dg_glossary **out, struct dg_error *err)
{
    struct dg_glossary_entry *entries = malloc((l->n ? l->n : 1) * sizeof *entries);
    size_t n = 0;
    *out = NULL;
    if (!entries)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu entries", l->n);
    /* Pairs with exactly these codes come last: of entries with the same source the last counts. */
    for (enum closeness wanted = SAME_LANGUAGES; wanted <= EXACT_LANGUAGES; wanted++) {
        enum closeness own = OTHER_LANGUAGES;
        for (size_t i = 0; i < l->n; i++) {
            const struct dg_memory_pair *p = &l->list[i];
            if (i == 0 || !has_codes_of(p, p - 1))
                own = closeness(p, source_lang, target_lang);
            const bool counts = own == wanted ||
                                (narrower && own == NARROWER_LANGUAGES && wanted == SAME_LANGUAGES);
            if (counts && p->target)
                entries[n++] =
                    (struct dg_glossary_entry){p->source, p->target, p->source_len, p->target_len};
        }
    }
    const int rc = n ? dg_glossary_make(entries, n, out, err) : DG_OK;
    free(entries);
    return rc;
}
