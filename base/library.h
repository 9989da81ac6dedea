/* Shared libraries that a program opens at run time: its plugins. Any thread. */
#ifndef DG_BASE_LIBRARY_H
#define DG_BASE_LIBRARY_H

/* dlopen of a file named from the folder that this program lies in, with dlopen's flags. NULL:
 * there is none, and dlerror() too is NULL; or it does not load, and dlerror() says why. */
void *dg_library_open_beside(const char *relative, int flags);

#endif
