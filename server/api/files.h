/* Common parts of the routes for documents. HTTP threads. */
#ifndef DG_SERVER_API_FILES_H
#define DG_SERVER_API_FILES_H

#include "server/app.h"
#include "server/http/http.h"
#include "server/http/multipart.h"
#include "store/uploads.h"

/* An array of the suffixes of the documents that the server translates; empty without --documents.
 */
struct dg_json *dg_file_suffixes(const struct dg_app *app);
/* Read the request as a form: its fields, an object to be freed in every case, and its file.
 * DG_EINVAL (field body): it is no such form. */
int dg_file_form_read(const struct dg_http_request *q, struct dg_json **fields,
    struct dg_multipart_file *file, struct dg_error *err);
/* Fill r with a document's translation. Errors as dg_uploader_read. */
int dg_file_reply(const struct dg_app *app, const struct dg_upload *upload, struct dg_http_reply *r,
    struct dg_error *err);

#endif
