/* Prepare's pass over the clean pairs that learns which words translate which, if the recipe wants
 * words as pairs of their own or words to be masked. */
#include "trainer/prepare/prepare_internal.h"

#include "base/alloc.h"

#include <stdlib.h>

int dg_prepare_dictionary(struct dg_prepare_job *j, struct dg_error *err)
{
    const struct dg_recipe_data *d = &j->r->data;
    int rc = 0;
    const struct dg_recipe_variants *v = &j->r->variants;
    if (v->words <= 0 && v->mask <= 0 && v->signs <= 0)
        return 0;
    j->dictionaries = dg_alloc(d->n_pairs, sizeof(struct dg_dictionary *), "words");
    dg_progress_draw(&j->progress, "learning which word translates which");
    for (size_t i = 0; i < d->n_pairs && !rc; i++) {
        const struct dg_dictionary_options o = {.dir = j->o->dir,
            .pair = (uint32_t)i,
            .source_lang = d->pairs[i].source_lang,
            .target_lang = d->pairs[i].target_lang};
        rc = dg_prepare_check(j, err);
        if (!rc)
            rc = dg_dictionary_learn(j->pairs, &o, &j->dictionaries[i], err);
    }
    return rc;
}
