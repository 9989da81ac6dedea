/* Glossaries and translation memories that clients make (store/memory.h), each owned by the API key
 * that made it. Their file is open three times, for changes, for lookups by translations and for
 * reading whole glossaries, so that none waits for the others. Any thread. */
#ifndef DG_SERVER_GLOSSARIES_COLLECTIONS_H
#define DG_SERVER_GLOSSARIES_COLLECTIONS_H

#include "base/executor.h"
#include "server/glossaries/set.h"
#include "store/memory.h"

struct dg_collections;

/* Open the file, which is made if it does not exist. Errors as dg_memory_open. */
int dg_collections_open(const char *path, struct dg_collections **out, struct dg_error *err);
void dg_collections_close(struct dg_collections *c); /* NULL is fine */
/* How often the file could not be read or written, other than by a lock. Any thread. */
uint64_t dg_collections_failures(const struct dg_collections *c);

/* Borrow the file, to read and change it, until it is given back; others wait. */
struct dg_memory *dg_collections_take(struct dg_collections *c);
void dg_collections_give(struct dg_collections *c);
/* Borrow a snapshot of the file, for reading only. Does not wait for changes, which may take
 * seconds. */
struct dg_memory *dg_collections_take_reader(struct dg_collections *c);
void dg_collections_give_reader(struct dg_collections *c);
/* Give the file back after a request that may have made a collection, `made` (an empty id: none).
 * Unless the reply's status, 201, reports it, the collection is removed again. */
void dg_collections_give_made(
    struct dg_collections *c, const struct dg_memory_info *made, int status);
/* Queue such work for a single thread of its own; false: the queue is full. */
bool dg_collections_post(struct dg_collections *c, struct dg_work *work);

/* Hold a source of memories, the number of the path they are read from, until c is closed. Several
 * servers may hold the same one. No effect on a file system without such locks. */
void dg_collections_hold(struct dg_collections *c, uint32_t source);
/* Does another server that has the file open hold this source? */
bool dg_collections_others_hold(struct dg_collections *c, uint32_t source);

/* A glossary that owner may use, referenced; its name is its id. Recently used ones are kept in
 * memory; reading another one may take a second. DG_ENOTFOUND, also if c is NULL. */
int dg_collections_glossary(struct dg_collections *c, const char *owner, const char *id,
    struct dg_glossary_set **out, struct dg_error *err);
/* Whether there are any translation memories with sentences. Another server on the same file may
 * have made them, so that the file is asked each time. c NULL: no. */
bool dg_collections_has_sentences(struct dg_collections *c);
/* As dg_memory_find; a failure is logged and returns false. */
bool dg_collections_find(struct dg_collections *c, const char *owner,
    const struct dg_memory_pair *wanted, struct dg_buffer *target);

#endif
