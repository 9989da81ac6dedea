/* Forms with files, multipart/form-data (RFC 7578). Pure; any thread. */
#ifndef DG_SERVER_HTTP_MULTIPART_H
#define DG_SERVER_HTTP_MULTIPART_H

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

struct dg_multipart_file {
    /* of the file, as the client says, without folders; "": there is no file, or it has none */
    char name[256];
    /* [n] borrowed from the body */
    const char *data;
    size_t n;
};

/* Is this the media type, as header Content-Type has it? */
bool dg_multipart_is(const char *type);

/* Read body[n], whose type says the boundary: parts without a file's name become strings of the
 * object (as dg_form_read has them; NULL: they are passed over), and the first that has one, of
 * that field, is *file. DG_EINVAL (field body): it is no such form; DG_ELIMIT; DG_ENOMEM. */
int dg_multipart_read(const char *type, const char *body, size_t n, const char *field,
    struct dg_json *object, struct dg_multipart_file *file, struct dg_error *err);

#endif
