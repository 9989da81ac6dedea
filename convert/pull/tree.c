#include "convert/pull/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OPEN_FOLDERS = 16 };

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

int dg_tree_remove(const char *path, struct dg_error *err)
{
    if (nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
        return dg_error_set(err, DG_EIO, "cannot remove %.300s: %s", path, strerror(errno));
    return 0;
}

int dg_tree_replace(const char *from, const char *to, struct dg_error *err)
{
    if (access(to, F_OK) != 0) {
        if (rename(from, to) == 0)
            return 0;
    } else if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) {
        return dg_tree_remove(from, err);
    }
    return dg_error_set(
        err, DG_EIO, "cannot rename %.200s to %.200s: %s", from, to, strerror(errno));
}
