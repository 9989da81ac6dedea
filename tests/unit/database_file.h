/* A database file of this process, removed before and after each test. */
#ifndef DG_TESTS_UNIT_DATABASE_FILE_H
#define DG_TESTS_UNIT_DATABASE_FILE_H

#include <stdio.h>
#include <unistd.h>

static char path[64];

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/dragoman-database-%d.db", (int)getpid());
    unlink(path);
    return 0;
}

static int remove_path(void **state)
{
    char more[80];
    (void)state;
    unlink(path);
    snprintf(more, sizeof more, "%s-wal", path);
    unlink(more);
    snprintf(more, sizeof more, "%s-shm", path);
    unlink(more);
    return 0;
}

#endif
