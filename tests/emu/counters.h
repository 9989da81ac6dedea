/* What the emulated CUDA has counted. Call while a backend keeps the emulation's library open.
 * Include after cmocka's headers. */
#ifndef DG_TESTS_EMU_COUNTERS_H
#define DG_TESTS_EMU_COUNTERS_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Finds a function of the emulation. On a real device it stays as it is. */
static inline void counters_find(const char *name, void *function)
{
    const char *path = getenv("DRAGOMAN_CUDA_PLUGIN");
    void *plugin = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    void *symbol = plugin ? dlsym(plugin, name) : NULL;
    if (symbol)
        memcpy(function, &symbol, sizeof symbol);
    else if (path && strstr(path, "-emu."))
        fail_msg("the emulation has no %s", name);
    if (plugin)
        dlclose(plugin);
}

/* Reads a counter; 0 on a real device. */
static inline unsigned long count_of(const char *name)
{
    unsigned long (*count)(void) = NULL;
    counters_find(name, &count);
    return count ? count() : 0;
}

/* Counts products of this epilogue (0: any), result type (NVIDIA's number) and rows in the
 * library's order (0: any). */
static inline unsigned long count_products(unsigned epilogue, int type, size_t rows)
{
    unsigned long (*count)(unsigned, int, size_t) = NULL;
    counters_find("dg_emu_products", &count);
    return count ? count(epilogue, type, rows) : 0;
}

#endif
