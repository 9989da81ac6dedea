#include "trainer/verbs/sets.h"

#include "base/alloc.h"
#include "trainer/verbs/pair.h"

#include <stdlib.h>
#include <string.h>

/* Splits FROM:TO:SOURCE:TARGET into its four parts, which stay in `copy`, a copy of the word. */
static int split_set(
    const char *word, char *copy, struct dg_calibrate_set *out, struct dg_error *err)
{
    char *part[4] = {copy, NULL, NULL, NULL};
    for (int i = 1; i < 4; i++) {
        char *colon = strchr(part[i - 1], ':');
        if (!colon)
            return dg_error_set(err, DG_EINVAL,
                "\"%s\" must be FROM:TO:SOURCE:TARGET, such as en:de:dev.en:dev.de", word);
        *colon = '\0';
        part[i] = colon + 1;
    }
    *out = (struct dg_calibrate_set){
        .source_lang = part[0], .target_lang = part[1], .source = part[2], .target = part[3]};
    return 0;
}

int dg_sets_read(const char *const *words, size_t n, struct dg_sets *out, struct dg_error *err)
{
    int rc = 0;
    out->n = n;
    out->list = dg_alloc(n, sizeof *out->list, "sets");
    out->words = dg_alloc(n, sizeof *out->words, "sets");
    for (size_t i = 0; i < n && !rc; i++) {
        out->words[i] = dg_alloc_string(words[i]);
        rc = split_set(words[i], out->words[i], &out->list[i], err);
    }
    return rc;
}

int dg_sets_match(struct dg_sets *s, const char *bundle, struct dg_error *err)
{
    int rc = dg_bundle_open(bundle, &s->bundle, err);
    for (size_t i = 0; i < s->n && !rc; i++) {
        struct dg_calibrate_set *set = &s->list[i];
        rc = dg_pair_find(s->bundle, set->source_lang, set->target_lang, &set->source_lang,
            &set->target_lang, err);
    }
    return rc;
}

void dg_sets_free(struct dg_sets *s)
{
    dg_bundle_close(s->bundle);
    for (size_t i = 0; s->words && i < s->n; i++)
        free(s->words[i]);
    free(s->words);
    free(s->list);
}
