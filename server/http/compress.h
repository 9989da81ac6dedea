/* Replies in fewer bytes: gzip (zlib) and zstd, where the client takes them and it pays. Nothing is
 * kept between calls. Any thread. */
#ifndef DG_SERVER_HTTP_COMPRESS_H
#define DG_SERVER_HTTP_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

enum dg_compress_coding { DG_COMPRESS_NONE, DG_COMPRESS_GZIP, DG_COMPRESS_ZSTD };

#define DG_COMPRESS_LEAST 1024   /* bytes of a body that is worth it */
#define DG_COMPRESS_MOST 4194304 /* and of one that holds up no HTTP thread for long */

/* What Accept-Encoding (NULL: absent) asks for: of those with the greatest q the first of zstd,
 * gzip, none. */
enum dg_compress_coding dg_compress_choose(const char *accept_encoding);
/* Content-Encoding's word; NULL of DG_COMPRESS_NONE. */
const char *dg_compress_name(enum dg_compress_coding coding);
/* Is a body of this type and size one that is compressed for clients that take it? */
bool dg_compress_pays(const char *content_type, size_t n);
/* s[n] compressed: malloc'd, its size in *out_n. NULL: it became no smaller, or memory is out. */
char *dg_compress(enum dg_compress_coding coding, const char *s, size_t n, size_t *out_n);

#endif
