/* Memory in reserve while jansson parses. Where there is none, jansson's lexer leaves out a
 * character and goes on: a shorter string, a number that ends the process, a read beyond its
 * buffer. So what it then asks for comes out of a block that was taken before; the parser's caller
 * sees that this has happened, gives it no more text, and throws away what was made. For
 * base/json.c alone. Any thread; each has its own block, one at a time. */
#ifndef DG_BASE_JSON_SPARE_H
#define DG_BASE_JSON_SPARE_H

#include <stdbool.h>
#include <stddef.h>

/* A block for a text of n bytes, of which DG_JSON_SPARE_STEP are read after memory has ended.
 * false: there is no memory for it. */
enum { DG_JSON_SPARE_STEP = 1024 }; /* jansson's own, of json_load_callback */
bool dg_json_spare_begin(size_t n);
/* Was there no memory since? */
bool dg_json_spare_used(void);
/* Nothing that came out of the block may be left. */
void dg_json_spare_end(void);

/* Has jansson found no memory in this thread, outside of parsing, since the last call of this? Then
 * what was being made lacks a part. */
bool dg_json_spare_lost(void);

/* jansson's allocation functions. */
void *dg_json_spare_malloc(size_t n);
void dg_json_spare_free(void *p);

#endif
