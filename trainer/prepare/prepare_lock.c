/* DESIGN. A prepared folder has two lock files, so that no process has to convert a lock: the
 * process that makes the folder holds .prepare-lock exclusively, those that read it share
 * .use-lock. The process that makes it also takes .use-lock exclusively, and fails while others
 * read. */
#include "trainer/prepare/prepare_internal.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

int dg_prepare_lock(const struct dg_prepare_options *o, int *fd, struct dg_error *err)
{
    char *path = dg_alloc_path(o->dir, ".prepare-lock");
    int rc = dg_file_make_dir(o->dir, err);
    if (rc == 0 && (*fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0644)) < 0)
        rc = dg_error_set(err, DG_EIO, "%s: %s", path, strerror(errno));
    for (bool told = false; rc == 0 && flock(*fd, LOCK_EX | LOCK_NB); told = true) {
        const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
        if (errno != EWOULDBLOCK && errno != EINTR)
            rc = dg_error_set(err, DG_EIO, "cannot lock %s: %s", path, strerror(errno));
        else if (o->stop && *o->stop)
            rc = dg_error_set(
                err, DG_ECANCELED, "stopped while another process prepares %s", o->dir);
        else if (!told)
            dg_log(DG_LOG_INFO, "waiting dir=%s reason=\"another process prepares it\"", o->dir);
        if (rc == 0)
            nanosleep(&pause, NULL);
    }
    free(path);
    return rc;
}

/* Opens the lock file of the folder's readers; -1 and errno on failure. */
static int open_use_lock(const char *dir, int flags)
{
    char *path = dg_alloc_path(dir, ".use-lock");
    const int fd = open(path, flags | O_CREAT | O_CLOEXEC, 0644);
    free(path);
    return fd;
}

int dg_prepare_lock_unused(const char *dir, int *fd, struct dg_error *err)
{
    *fd = open_use_lock(dir, O_RDWR);
    if (*fd < 0)
        return dg_error_set(err, DG_EIO, "%s/.use-lock: %s", dir, strerror(errno));
    if (!flock(*fd, LOCK_EX | LOCK_NB))
        return 0;
    if (errno != EWOULDBLOCK)
        return dg_error_set(err, DG_EIO, "cannot lock %s/.use-lock: %s", dir, strerror(errno));
    return dg_error_set(err, DG_EAGAIN,
        "another run uses the prepared data in %s, which would have to be replaced: "
        "prepare into another folder, or wait for that run to end",
        dir);
}

int dg_prepared_hold(const char *dir, int *fd, struct dg_error *err)
{
    *fd = open_use_lock(dir, O_RDONLY);
    /* If no lock file can be made (a read-only folder), nobody can replace the folder either. */
    if (*fd < 0 || !flock(*fd, LOCK_SH | LOCK_NB) || errno != EWOULDBLOCK)
        return 0;
    close(*fd);
    *fd = -1;
    return dg_error_set(err, DG_EAGAIN, "another process prepares %s", dir);
}
