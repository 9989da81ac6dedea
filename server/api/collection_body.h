/* The body of a POST, PUT or PATCH of /v1/glossaries or /v1/memories: a name, and dictionaries.
 * One thread at a time. */
#ifndef DG_SERVER_API_COLLECTION_BODY_H
#define DG_SERVER_API_COLLECTION_BODY_H

#include "base/json.h"
#include "server/api/side.h"
#include "store/memory.h"
#include "store/pair_list.h"

struct dg_collection_body {
    struct dg_json *json;
    /* NULL: not given; borrowed from json */
    const char *name;
    /* null in place of a target removes an entry */
    bool may_remove;
    struct dg_pair_list pairs;
};

void dg_collection_body_init(struct dg_collection_body *b);
void dg_collection_body_deinit(struct dg_collection_body *b);
/* Read the request's body. kind: of the collection that the pairs are for; all: name and
 * dictionaries are required (POST, PUT). DG_EINVAL, DG_ELIMIT with the field; DG_ENOMEM. */
int dg_collection_body_read(const struct dg_side *s, enum dg_memory_kind kind, bool all,
    struct dg_collection_body *b, struct dg_error *err);

#endif
