/* A memory reserve for jansson's parser. When malloc fails, jansson's lexer drops a character and
 * continues: a shorter string, a number that ends the process, a read beyond its buffer. So its
 * allocations then come from a block reserved beforehand; base/json.c notices, passes no more text,
 * and discards the result. Only for base/json.c. Any thread; each has its own block, one at a time.
 */
#ifndef DG_BASE_JSON_SPARE_H
#define DG_BASE_JSON_SPARE_H

#include <stdbool.h>
#include <stddef.h>

/* Reserve a block for a text of n bytes, of which at most DG_JSON_SPARE_STEP are read after memory
 * has run out. False: no memory for the block. */
enum { DG_JSON_SPARE_STEP = 1024 }; /* the buffer size of jansson's json_load_callback */
bool dg_json_spare_begin(size_t n);
/* Whether memory ran out since dg_json_spare_begin. */
bool dg_json_spare_used(void);
/* Release the block. Nothing allocated from it may remain. */
void dg_json_spare_end(void);

/* Whether jansson ran out of memory in this thread, outside of parsing, since the last call. The
 * value it built is then incomplete. */
bool dg_json_spare_lost(void);

/* jansson's allocation functions. */
void *dg_json_spare_malloc(size_t n);
void dg_json_spare_free(void *p);

#endif
