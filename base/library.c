#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* An address in the program or in libdragoman.so, whichever this file was linked into. */
static const char anchor = 0;

/* Make the path of `relative` in the folder of `file`. False if it cannot be read. */
static bool find_in_folder(const char *file, const char *relative, char *path, size_t cap)
{
    const char *slash = strrchr(file, '/');
    if (!slash)
        return false;
    const int length = snprintf(path, cap, "%.*s%s", (int)(slash + 1 - file), file, relative);
    return length >= 0 && (size_t)length < cap && access(path, R_OK) == 0;
}

bool dg_library_find_beside(const char *relative, char *path, size_t cap)
{
    char exe[4096];
    Dl_info own;
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    if (find_in_folder(exe, relative, path, cap))
        return true;
    return dladdr(&anchor, &own) && own.dli_fname &&
           find_in_folder(own.dli_fname, relative, path, cap);
}

void *dg_library_open_beside(const char *relative, int flags)
{
    char path[4096 + 64];
    return dg_library_find_beside(relative, path, sizeof path) ? dlopen(path, flags) : NULL;
}
