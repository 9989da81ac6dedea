/* A database file in a folder of its own, for the set-up and tear-down of one test. */
#ifndef DG_TESTS_UNIT_DATABASE_FILE_H
#define DG_TESTS_UNIT_DATABASE_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char folder[] = "/tmp/dragoman-XXXXXX", path[64];

/* Other users may look into the folder, as into /tmp. */
static int make_path(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/dragoman-XXXXXX");
    snprintf(path, sizeof path, "%s/a.db", mkdtemp(folder));
    return chmod(folder, 0755);
}

static int remove_path(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

#endif
