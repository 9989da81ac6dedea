/* Files beside the program or beside this shared library: shared libraries opened at run time, and
 * data. Any thread. */
#ifndef DG_BASE_LIBRARY_H
#define DG_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Find a file or folder by its path relative to the folder of this program or, failing that, of
 * libdragoman.so. False: none of them can be read. */
bool dg_library_find_beside(const char *relative, char *path, size_t cap);

/* dlopen a file found as above, with dlopen's flags. NULL: it was not found, and dlerror() is NULL,
 * too; or it does not load, and dlerror() has the reason. */
void *dg_library_open_beside(const char *relative, int flags);

#endif
