#include "server/glossaries/set.h"

#include "text/language_code.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entries {
    /* in canonical form */
    char source[DG_LANGUAGE_MAX], target[DG_LANGUAGE_MAX];
    struct dg_glossary *glossary;
    /* without entries of codes that say more, for another such code; NULL: there are none */
    struct dg_glossary *wide;
};

struct dg_glossary_set {
    atomic_uint refs;
    char name[DG_GLOSSARIES_NAME + 1];
    /* [n] */
    struct entries pairs[DG_GLOSSARIES_PAIRS];
    size_t n;
};

void dg_glossary_set_unref(struct dg_glossary_set *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) > 1)
        return;
    for (size_t i = 0; i < s->n; i++) {
        dg_glossary_unref(s->pairs[i].glossary);
        dg_glossary_unref(s->pairs[i].wide);
    }
    free(s);
}

struct dg_glossary_set *dg_glossary_set_ref(struct dg_glossary_set *s)
{
    atomic_fetch_add(&s->refs, 1);
    return s;
}

const char *dg_glossary_set_name(const struct dg_glossary_set *s)
{
    return s->name;
}

/* Exact codes come first: "pt-BR" has entries of its own besides "pt". */
struct dg_glossary *dg_glossary_set_pair(
    const struct dg_glossary_set *s, const char *source, const char *target)
{
    char codes[2][DG_LANGUAGE_MAX];
    struct dg_glossary *near = NULL;
    if (!dg_language_canonical(source, codes[0]) || !dg_language_canonical(target, codes[1]))
        return NULL;
    for (size_t i = 0; i < s->n; i++) {
        const struct entries *e = &s->pairs[i];
        const int from = dg_language_canonical_distance(codes[0], e->source);
        const int to = dg_language_canonical_distance(codes[1], e->target);
        if (from == 0 && to == 0)
            return e->glossary;
        const bool narrower = dg_language_says_more(from) || dg_language_says_more(to);
        if (from >= 0 && to >= 0 && !near)
            near = narrower && e->wide ? e->wide : e->glossary;
    }
    return near;
}

bool dg_glossary_set_languages(
    const struct dg_glossary_set *s, size_t i, const char *languages[2], size_t *entries)
{
    if (i >= s->n)
        return false;
    languages[0] = s->pairs[i].source;
    languages[1] = s->pairs[i].target;
    *entries = dg_glossary_size(s->pairs[i].glossary);
    return true;
}

/* Adds the entries of one language pair, unless the set has them already. */
static int add_pair(struct dg_glossary_set *s, const struct dg_pair_list *l,
    const struct dg_memory_pair *p, struct dg_error *err)
{
    struct entries own = {0};
    if (!dg_language_canonical(p->source_lang, own.source) ||
        !dg_language_canonical(p->target_lang, own.target))
        return dg_error_set(err, DG_EINVAL,
            "glossary %s: \"%.40s\" or \"%.40s\" is too long for a language code", s->name,
            p->source_lang, p->target_lang);
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->pairs[i].source, own.source) && !strcmp(s->pairs[i].target, own.target))
            return DG_OK;
    if (s->n == DG_GLOSSARIES_PAIRS)
        return dg_error_set(err, DG_ELIMIT,
            "glossary %s has more than %d pairs of languages, which is the limit", s->name,
            DG_GLOSSARIES_PAIRS);
    int rc = dg_pair_list_glossary(l, own.source, own.target, true, &own.glossary, err);
    if (rc == DG_OK && dg_pair_list_has_narrower(l, own.source, own.target))
        rc = dg_pair_list_glossary(l, own.source, own.target, false, &own.wide, err);
    if (rc == DG_OK && own.glossary) {
        s->pairs[s->n++] = own;
    } else {
        dg_glossary_unref(own.glossary);
        dg_glossary_unref(own.wide);
    }
    return rc;
}

int dg_glossary_set_make(const char *name, const struct dg_pair_list *l,
    struct dg_glossary_set **out, struct dg_error *err)
{
    struct dg_glossary_set *s = calloc(1, sizeof *s);
    if (!s)
        return dg_error_set(err, DG_ENOMEM, "no memory for a glossary");
    atomic_init(&s->refs, 1);
    snprintf(s->name, sizeof s->name, "%s", name);
    int rc = l->n <= DG_GLOSSARIES_ENTRIES
                 ? DG_OK
                 : dg_error_set(err, DG_ELIMIT, "glossary %s has %zu entries, the limit is %d",
                       name, l->n, DG_GLOSSARIES_ENTRIES);
    for (size_t i = 0; i < l->n && rc == DG_OK; i++)
        if (l->list[i].target) /* else it is not an entry */
            rc = add_pair(s, l, &l->list[i], err);
    if (rc != DG_OK) {
        dg_glossary_set_unref(s);
        return rc;
    }
    *out = s;
    return DG_OK;
}
