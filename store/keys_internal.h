/* An open file of keys, for keys*.c. One thread at a time. */
#ifndef DG_STORE_KEYS_INTERNAL_H
#define DG_STORE_KEYS_INTERNAL_H

#include "store/db.h"
#include "store/keys.h"

#include <sys/types.h>

struct dg_keys {
    struct dg_db db;
    /* SQLite's data_version at the last dg_keys_changed */
    int64_t data_version;
    /* identity of the open file */
    dev_t device;
    ino_t inode;
};

#endif
