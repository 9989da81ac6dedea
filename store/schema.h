/* The tables of a file of ours, brought up to date step by step. Only store/ includes this. One
 * thread at a time. */
#ifndef DG_STORE_SCHEMA_H
#define DG_STORE_SCHEMA_H

#include "store/db.h"

#include <stddef.h>

struct dg_schema {
    /* in the file: other files of SQLite are refused */
    int64_t application_id;
    /* the kind of file, for messages */
    const char *what;
    /* [n_steps] SQL; step i makes version i + 1 (user_version) of version i */
    const char *const *steps;
    size_t n_steps;
};

/* An empty file is initialised if create is set; an older one is upgraded. DG_EFORMAT: something
 * else; DG_EUNSUP: a newer program's. */
int dg_schema_apply(
    struct dg_db *db, const struct dg_schema *schema, bool create, struct dg_error *err);

#endif
