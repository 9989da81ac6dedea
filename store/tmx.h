/* Translation memories in TMX (1.4), read by libxml2 (the one file that knows it is tmx.c). Any
 * thread. */
#ifndef DG_STORE_TMX_H
#define DG_STORE_TMX_H

#include "store/memory.h"

/* Maximum number of variants per unit. */
#define DG_TMX_MAX_VARIANTS 32

/* Visit the pairs of the document s[n]: of each unit every ordered pair of its variants. Languages
 * are as the file writes them. Of inline markup the text that <hi> holds stays; codes (<ph>, <bpt>
 * and the like) go. Nothing outside the document is read, and no entity but XML's own is replaced.
 * DG_EFORMAT names the line; earlier pairs were already visited. */
int dg_tmx_read(const char *s, size_t n, dg_memory_visit *visit, void *ctx, struct dg_error *err);

#endif
