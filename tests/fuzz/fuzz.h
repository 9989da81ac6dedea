/* What fuzz targets share. One thread at a time. */
#ifndef DG_TESTS_FUZZ_FUZZ_H
#define DG_TESTS_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static inline void require(int condition)
{
    if (!condition)
        abort();
}

/* A folder of this process in memory, made by the first call. */
static inline const char *fuzz_dir(void)
{
    static char dir[64];
    if (dir[0] == '\0') {
        snprintf(dir, sizeof dir, "/dev/shm/dragoman-fuzz-XXXXXX");
        require(mkdtemp(dir) != NULL);
    }
    return dir;
}

/* Write a file of that folder; its path, static storage. */
static inline const char *fuzz_file(const char *name, const void *data, size_t size)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", fuzz_dir(), name);
    FILE *f = fopen(path, "wb");
    require(f != NULL && fwrite(data, 1, size, f) == size);
    require(fclose(f) == 0);
    return path;
}

#endif
