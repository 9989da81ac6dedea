/* Files beside the program or beside this shared library: shared libraries opened at run time, and
 * data. Any thread. */
#ifndef DG_BASE_LIBRARY_H
#define DG_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* The path of a file or folder named from the folder that this program is in, or else that
 * libdragoman.so is in. False: there is none that can be read. */
bool dg_library_find_beside(const char *relative, char *path, size_t cap);

/* dlopen of a file named from these folders, with dlopen's flags. NULL: there is none, and
 * dlerror() is NULL, too; or it does not load, and dlerror() has the reason. */
void *dg_library_open_beside(const char *relative, int flags);

#endif
