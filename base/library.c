#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool dg_library_find_beside(const char *relative, char *path, size_t cap)
{
    char exe[4096];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0)
        return false;
    exe[n] = '\0';
    char *slash = strrchr(exe, '/');
    if (!slash)
        return false;
    slash[1] = '\0';
    const int length = snprintf(path, cap, "%s%s", exe, relative);
    return length >= 0 && (size_t)length < cap && access(path, R_OK) == 0;
}

void *dg_library_open_beside(const char *relative, int flags)
{
    char path[4096 + 64];
    return dg_library_find_beside(relative, path, sizeof path) ? dlopen(path, flags) : NULL;
}
