/* Internals of lists of names (names.c, names_replace.c). Const after opening; any thread. */
#ifndef DG_TRAINER_ALIGN_NAMES_INTERNAL_H
#define DG_TRAINER_ALIGN_NAMES_INTERNAL_H

#include "trainer/align/names.h"
#include "trainer/data/string_table.h"

struct dg_name_entry {
    uint32_t kind;
    /* first sounds, of source and target */
    enum dg_name_sound { DG_NAME_OTHER, DG_NAME_VOWEL, DG_NAME_H } sound[2];
    /* number of its group */
    uint32_t group;
};

/* Entries that may replace each other: their first place in `order`, and how many they are. */
struct dg_name_group {
    uint32_t begin, n;
};

/* The list for one pair of the recipe: a table of the names of each side, to find them in a text,
 * and one of "source TAB target", whose number is the entry: a name may have several translations
 * (Florence: Florenz, but as a woman's name Florence), and the pair's other side tells which one it
 * is. */
struct dg_name_lists {
    struct dg_string_table *names[2], *both;
    /* [dg_string_table_count(both)] */
    struct dg_name_entry *entries;
    size_t room;
    uint32_t *order;
    struct dg_name_group *groups;
};

struct dg_names {
    const struct dg_recipe *r;
    struct dg_string_table *kinds;
    /* [r->data.n_pairs] */
    struct dg_name_lists *pairs;
};

#endif
