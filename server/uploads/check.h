/* Checks whether a client's document can be translated. Any thread. Only for server/uploads. */
#ifndef DG_SERVER_UPLOADS_CHECK_H
#define DG_SERVER_UPLOADS_CHECK_H

#include "documents/extract.h"
#include "server/uploads/uploads.h"

#define DG_UPLOAD_MOST_BYTES (64u << 20)

/* Limits of a document's file; text_bytes is the limit of its texts. */
struct dg_extract_limits dg_upload_limits(size_t text_bytes);

/* Fill in made's characters, languages, glossary and rerank; its owner must be set. Errors as
 * dg_uploader_add. */
int dg_upload_check(const struct dg_app *app, const struct dg_upload_order *order,
    struct dg_upload *made, struct dg_error *err);

#endif
