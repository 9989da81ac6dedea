/* The server's own translation memories: files of pairs (store/pairs_file.h), read at start and at
 * each reload into the file of collections, for every key. Files that have not changed since they
 * were last read are not read again. One thread at a time. */
#ifndef DG_SERVER_GLOSSARIES_MEMORIES_H
#define DG_SERVER_GLOSSARIES_MEMORIES_H

#include "server/glossaries/collections.h"

struct dg_memories_options {
    /* a file or a directory of files; "": none */
    const char *path;
    /* whether the server is told to stop; NULL: never */
    bool (*stops)(void *arg);
    void *arg;
};

/* Replace the memories read before with those of the files, except memories that another running
 * server has read from another path. Waits up to half a minute for a file of collections that
 * another server has locked. On failure the old memories stay, and the message names the file.
 * DG_ECANCELED: the server stops. */
int dg_memories_load(
    struct dg_collections *c, const struct dg_memories_options *options, struct dg_error *err);

/* Read path likewise and keep nothing: an error is what dg_memories_load would find in the files.
 */
int dg_memories_check(const char *path, struct dg_error *err);

#endif
