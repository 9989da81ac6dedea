/* Entries of glossaries and memories as requests hold them: text as TSV, CSV or TMX, or an object
 * of sources with their targets. Any thread. */
#ifndef DG_SERVER_API_ENTRIES_H
#define DG_SERVER_API_ENTRIES_H

#include "base/json.h"
#include "store/memory.h"
#include "store/pair_list.h"

/* The pairs of one dictionary in a request. */
struct dg_entries {
    /* languages */
    const char *source, *target;
    /* tsv, csv or tmx; NULL: tsv */
    const char *format;
    /* null in place of a target removes the entry, in an object */
    bool may_remove;
    const struct dg_json *entries;
    /* name of the entries' field, for messages */
    const char *where;
};

/* Append the entries to out, in these languages; rows of a file in other languages are skipped.
 * Entries to remove have no target. DG_EINVAL, DG_ELIMIT with the field. */
int dg_entries_read(const struct dg_entries *e, struct dg_pair_list *out, struct dg_error *err);
/* Check that a collection of this kind can hold the pairs. DG_EINVAL, DG_ELIMIT: field entries. */
int dg_entries_check(
    enum dg_memory_kind kind, const struct dg_pair_list *pairs, struct dg_error *err);
/* Write a collection's pairs in two languages as text: CSV if Accept asks for it, else TSV; *type
 * is its media type. */
int dg_entries_write(struct dg_memory *m, const char *id, const char *const languages[2],
    const char *accept, const char **type, struct dg_buffer *out, struct dg_error *err);

#endif
