#include "base/library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void *dg_library_open_beside(const char *relative, int flags)
{
    char exe[4096], path[4096 + 64];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0)
        return NULL;
    exe[n] = '\0';
    char *slash = strrchr(exe, '/');
    if (!slash)
        return NULL;
    slash[1] = '\0';
    const int length = snprintf(path, sizeof path, "%s%s", exe, relative);
    if (length < 0 || (size_t)length >= sizeof path || access(path, R_OK))
        return NULL;
    return dlopen(path, flags);
}
