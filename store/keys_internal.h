/* An open file of keys, for keys*.c. One thread at a time. */
#ifndef DG_STORE_KEYS_INTERNAL_H
#define DG_STORE_KEYS_INTERNAL_H

#include "store/db.h"
#include "store/keys.h"

#include <sys/types.h>

struct dg_keys {
    struct dg_db db;
    /* as dg_keys_changed last saw it */
    int64_t data_version;
    /* The file that is open. */
    dev_t device;
    ino_t inode;
};

#endif
