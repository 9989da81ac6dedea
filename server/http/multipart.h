/* Forms with files, multipart/form-data (RFC 7578). Pure; any thread. */
#ifndef DG_SERVER_HTTP_MULTIPART_H
#define DG_SERVER_HTTP_MULTIPART_H

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

struct dg_multipart_file {
    /* file name that the client gives, without folders; "": there is no file, or it has no name */
    char name[256];
    /* [n] borrowed from the body */
    const char *data;
    size_t n;
};

/* Is this Content-Type multipart/form-data? */
bool dg_multipart_is(const char *type);

/* Read body[n]; type gives the boundary. Parts without a file name are added to the object as
 * dg_form_read adds parameters (NULL: they are skipped). *file becomes the first part of the name
 * `field` that has a file name. DG_EINVAL (field body): it is not such a form; DG_ELIMIT;
 * DG_ENOMEM. */
int dg_multipart_read(const char *type, const char *body, size_t n, const char *field,
    struct dg_json *object, struct dg_multipart_file *file, struct dg_error *err);

#endif
