/* The page's files as bytes, built in from web/ by server/CMakeLists.txt, which lists them.
 * Constant; any thread. */
#ifndef DG_SERVER_API_WEB_FILES_H
#define DG_SERVER_API_WEB_FILES_H

#include <stddef.h>

struct dg_web_file {
    /* name: NULL at the end of the files */
    const char *name, *type;
    /* [*size] */
    const unsigned char *data;
    const size_t *size;
};
extern const struct dg_web_file dg_web_files[];

#endif
