/* What file.c and file_writer.c share. Any thread. */
#ifndef DG_BASE_FILE_INTERNAL_H
#define DG_BASE_FILE_INTERNAL_H

#include "base/file.h"

/* Set the error "cannot WHAT PATH: reason" from errno and return its code. */
int dg_file_fail(struct dg_error *err, const char *what, const char *path);

#endif
