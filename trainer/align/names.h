/* A list of names in several languages, and pairs with other names in the place of theirs: most
 * names are too rare in training text to be learned from it ("Ich wohne in München" became "I live
 * in coins"). Const after opening; any thread.
 *
 * The file's first line names its columns, separated by tabs: "kind", then languages. Each further
 * line is a name: its kind, such as "place", and the name in each language; an empty cell: none; a
 * single one: the same in all languages. */
#ifndef DG_TRAINER_ALIGN_NAMES_H
#define DG_TRAINER_ALIGN_NAMES_H

#include "base/buffer.h"
#include "base/error.h"
#include "trainer/data/pairs.h"
#include "trainer/recipe/recipe.h"

#include <stdbool.h>

struct dg_names;

/* Read a list for all pairs of the recipe, which must outlive it. DG_EFORMAT, naming the line;
 * DG_EINVAL: a language of the recipe has no column. */
int dg_names_open(
    const struct dg_recipe *r, const char *path, struct dg_names **out, struct dg_error *err);
void dg_names_close(struct dg_names *n); /* NULL is fine */

/* Append both sides of p to text[2], with another name of the same kind in the place of each name
 * of the list that is once in the source and, in the target's language, once in the target. The
 * draw depends on p's number and `round`. A name that begins with a vowel, an h or neither gives
 * way to one that does, in both languages (d'Athènes, d'Oslo). False, and nothing is appended: the
 * pair has no such name. */
bool dg_names_exchange(
    const struct dg_names *n, const struct dg_pair *p, uint64_t round, struct dg_buffer text[2]);

#endif
