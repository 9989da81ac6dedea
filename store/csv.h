/* Pairs as rows "source,target" or "source,target,source language,target language", the usual form
 * of glossary files: RFC 4180, with quotes around fields that contain commas, quotes or line ends;
 * or with ";" for ",", if the first row has no comma. Pure; any thread. */
#ifndef DG_STORE_CSV_H
#define DG_STORE_CSV_H

#include "store/memory.h"

/* Visit the pairs of s[n] in order. A row without languages gets those given (NULL: it must have
 * its own). Line ends are LF or CRLF; empty rows are skipped and white space around texts and
 * codes is dropped, as is a byte order mark at the beginning. DG_EFORMAT names the line. */
int dg_csv_read(const char *s, size_t n, const char *source_lang, const char *target_lang,
    dg_memory_visit *visit, void *ctx, struct dg_error *err);
/* Append source and target of a pair as a row. */
void dg_csv_write(const struct dg_memory_pair *pair, struct dg_buffer *out);

#endif
