/* A file of API keys in a folder of its own, for cmocka's set-up and tear-down of one test. */
#ifndef DG_TESTS_UNIT_KEYS_FILE_H
#define DG_TESTS_UNIT_KEYS_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64], path[128];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/dragoman-keys-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/keys.db", folder);
    return 0;
}

static int tear_down(void **state)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char name[160];
    (void)state;
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
    return rmdir(folder);
}

#endif
