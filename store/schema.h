/* Creates the tables of a file and upgrades them step by step. Only store/ includes this. One
 * thread at a time. */
#ifndef DG_STORE_SCHEMA_H
#define DG_STORE_SCHEMA_H

#include "store/db.h"

#include <stddef.h>

struct dg_schema {
    /* stored in the file; other SQLite files are refused */
    int64_t application_id;
    /* the kind of file, for messages */
    const char *what;
    /* [n_steps] SQL; step i upgrades version i (user_version) to i + 1 */
    const char *const *steps;
    size_t n_steps;
};

/* Initialise an empty file if create is set, upgrade an older one. DG_EFORMAT: another kind of
 * file; DG_EUNSUP: a newer program's. */
int dg_schema_apply(
    struct dg_db *db, const struct dg_schema *schema, bool create, struct dg_error *err);
/* Check that dg_db_open and dg_schema_apply would accept the file at path, and that no page of it
 * is damaged, which takes as long as reading it; write nothing: an older file stays as it is.
 * DG_EFORMAT also: damaged. create: it may be missing if it can be made. *older: they would upgrade
 * the file; may be NULL. */
int dg_schema_check(const char *path, const struct dg_schema *schema, bool create, bool *older,
    struct dg_error *err);

#endif
