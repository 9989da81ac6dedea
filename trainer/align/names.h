/* Replaces names in training pairs with other names of a list, because most names are too rare in
 * training text to be learned ("Ich wohne in München" became "I live in coins"). A list is const
 * after opening; any thread.
 *
 * A list is a text file with tabs. Its first line names the columns: "kind", then languages. Each
 * further line has a kind, such as "place", and the name in each language. An empty cell means no
 * name in that language; a single cell after the kind is the name in all languages. */
#ifndef DG_TRAINER_ALIGN_NAMES_H
#define DG_TRAINER_ALIGN_NAMES_H

#include "base/buffer.h"
#include "base/error.h"
#include "trainer/data/pairs.h"
#include "trainer/recipe/recipe.h"

#include <stdbool.h>

struct dg_names;

/* Read a list for all language pairs of the recipe, which must outlive it. DG_EFORMAT names the
 * line; DG_EINVAL: a language of the recipe has no column. */
int dg_names_open(
    const struct dg_recipe *r, const char *path, struct dg_names **out, struct dg_error *err);
void dg_names_close(struct dg_names *n); /* NULL is fine */

enum { DG_NAMES_MOST = 8 };

/* The names of a list that a pair has: a name that occurs once in the source, and whose translation
 * occurs once in the target. Of each side, the first DG_NAMES_MOST are looked at. */
struct dg_name_places {
    /* [n] bytes [begin, end) in source and target, and the name's number in the list */
    struct dg_name_place {
        size_t begin, end;
    } at[2][DG_NAMES_MOST];
    uint32_t entry[DG_NAMES_MOST];
    size_t n;
};

void dg_names_find(const struct dg_names *n, const struct dg_pair *p, struct dg_name_places *out);

/* Append both sides of the pair to text[2], with another name of the same kind for each of its
 * names. The draw depends on the pair's number and `round`. Old and new name begin alike in both
 * languages: with a vowel, with an h, or with neither (d'Athènes, d'Oslo). False: nothing is
 * appended, because the list has no other name for any of them. */
bool dg_names_replace(const struct dg_names *n, const struct dg_pair *p,
    const struct dg_name_places *places, uint64_t round, struct dg_buffer text[2]);

#endif
