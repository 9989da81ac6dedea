/* Memory in reserve while jansson parses. Without memory, jansson's lexer drops a character and
 * continues: a shorter string, a number that ends the process, a read beyond its buffer. Its
 * requests then come from a block reserved before; the parser's caller notices, passes no more
 * text, and discards the result. Only for base/json.c. Any thread; each has its own block, one at a
 * time. */
#ifndef DG_BASE_JSON_SPARE_H
#define DG_BASE_JSON_SPARE_H

#include <stdbool.h>
#include <stddef.h>

/* A block for a text of n bytes, of which DG_JSON_SPARE_STEP are read after memory has ended.
 * false: there is no memory for it. */
enum { DG_JSON_SPARE_STEP = 1024 }; /* jansson's own, of json_load_callback */
bool dg_json_spare_begin(size_t n);
/* Whether memory ran out since then. */
bool dg_json_spare_used(void);
/* Nothing allocated from the block may remain. */
void dg_json_spare_end(void);

/* Whether jansson ran out of memory in this thread, outside of parsing, since the last call. The
 * value is then incomplete. */
bool dg_json_spare_lost(void);

/* jansson's allocation functions. */
void *dg_json_spare_malloc(size_t n);
void dg_json_spare_free(void *p);

#endif
