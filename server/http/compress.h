/* Replies in fewer bytes: gzip (zlib) and zstd, where the client takes them and it pays. Nothing is
 * kept between calls. Any thread. */
#ifndef DG_SERVER_HTTP_COMPRESS_H
#define DG_SERVER_HTTP_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

enum dg_compress_coding { DG_COMPRESS_NONE, DG_COMPRESS_GZIP, DG_COMPRESS_ZSTD };

#define DG_COMPRESS_LEAST 1024   /* smallest body worth compressing, bytes */
#define DG_COMPRESS_MOST 4194304 /* largest, so that no HTTP thread is held up for long */

/* What Accept-Encoding (NULL: absent) asks for: among the codings with the greatest q, the first of
 * zstd, gzip, none. */
enum dg_compress_coding dg_compress_choose(const char *accept_encoding);
/* The coding's name in Content-Encoding; NULL for DG_COMPRESS_NONE. */
const char *dg_compress_name(enum dg_compress_coding coding);
/* Is a body of this type and size worth compressing for clients that accept it? */
bool dg_compress_pays(const char *content_type, size_t n);
/* Compress s[n]: malloc'd, its size in *out_n. NULL: it became no smaller, or memory is out. */
char *dg_compress(enum dg_compress_coding coding, const char *s, size_t n, size_t *out_n);

#endif
