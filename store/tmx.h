/* Reads translation memories in TMX (1.4) with libxml2 (only tmx.c includes it). Any thread. */
#ifndef DG_STORE_TMX_H
#define DG_STORE_TMX_H

#include "store/memory.h"

/* Maximum number of variants per unit. */
#define DG_TMX_MAX_VARIANTS 32

/* Visit the pairs of the document s[n]: for each unit, every ordered pair of its variants in
 * different languages. Languages are as the file writes them, or "sr-Latn" for the locale sr@latin;
 * variants whose language is no code ("x-none") are left out. Of inline markup, the text within
 * <hi> stays and codes (<ph>, <bpt> and the like) are dropped. Nothing outside the document is
 * read, and only XML's own entities are replaced. DG_EFORMAT names the line, also of a code where
 * no pair is left without its variants; earlier pairs were already visited. */
int dg_tmx_read(const char *s, size_t n, dg_memory_visit *visit, void *ctx, struct dg_error *err);

#endif
