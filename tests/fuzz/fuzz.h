/* Helpers for fuzz targets. One thread at a time. */
#ifndef DG_TESTS_FUZZ_FUZZ_H
#define DG_TESTS_FUZZ_FUZZ_H

#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static inline void require(int condition)
{
    if (!condition)
        abort();
}

static char fuzz_folder[64];

static inline int fuzz_remove(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static inline void fuzz_clear(void)
{
    nftw(fuzz_folder, fuzz_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* Returns a folder of this process in memory, made by the first call and removed at exit. */
static inline const char *fuzz_dir(void)
{
    if (fuzz_folder[0] == '\0') {
        snprintf(fuzz_folder, sizeof fuzz_folder, "/dev/shm/dragoman-fuzz-XXXXXX");
        require(mkdtemp(fuzz_folder) != NULL && atexit(fuzz_clear) == 0);
    }
    return fuzz_folder;
}

/* Writes a file in that folder; returns its path in static storage. */
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
