/* Pairs as lines "source TAB target", the usual form of glossary and memory files. Pure; any
 * thread. */
#ifndef DG_STORE_TSV_H
#define DG_STORE_TSV_H

#include "store/memory.h"

/* Visit the pairs of s[n] in order, each with the languages given. Line ends are LF or CRLF; empty
 * lines are skipped and white space around texts is dropped, as is a byte order mark at the
 * beginning. DG_EFORMAT names the line: not UTF-8, not two columns, or an empty column. */
int dg_tsv_read(const char *s, size_t n, const char *source_lang, const char *target_lang,
    dg_memory_visit *visit, void *ctx, struct dg_error *err);
/* Append a pair as a line; tabs and line ends in texts become spaces. */
void dg_tsv_write(const struct dg_memory_pair *pair, struct dg_buffer *out);

#endif
