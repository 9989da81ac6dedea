/* Glossaries and translation memories that clients make (store/memory.h), each owned by the API key
 * that made it: a file that is open twice, for changes and for what translations ask, so that
 * neither waits for the other. Any thread. */
#ifndef DG_SERVER_GLOSSARIES_COLLECTIONS_H
#define DG_SERVER_GLOSSARIES_COLLECTIONS_H

#include "base/executor.h"
#include "server/glossaries/set.h"
#include "store/memory.h"

struct dg_collections;

/* The file is made when it is not there. As dg_memory_open. */
int dg_collections_open(const char *path, struct dg_collections **out, struct dg_error *err);
void dg_collections_close(struct dg_collections *c); /* NULL is fine */

/* The file, for looking and changing, until it is given back; others wait. */
struct dg_memory *dg_collections_take(struct dg_collections *c);
void dg_collections_give(struct dg_collections *c);
/* The same after a request that makes something, `made` (an empty id: nothing was made): where the
 * reply of this status does not say so, it is removed again. */
void dg_collections_give_made(
    struct dg_collections *c, const struct dg_memory_info *made, int status);
/* A line for such work, on a thread of its own; false: it is full. */
bool dg_collections_post(struct dg_collections *c, struct dg_work *work);

/* A glossary that owner may use, referenced; its name is its id. Recently used ones are kept.
 * DG_ENOTFOUND; c NULL: none are. */
int dg_collections_glossary(struct dg_collections *c, const char *owner, const char *id,
    struct dg_glossary_set **out, struct dg_error *err);
/* Whether there are any translation memories with sentences. c NULL: no. */
bool dg_collections_has_sentences(struct dg_collections *c);
/* As dg_memory_find; a failure is logged and returns false. */
bool dg_collections_find(struct dg_collections *c, const char *owner,
    const struct dg_memory_pair *wanted, struct dg_buffer *target);

#endif
