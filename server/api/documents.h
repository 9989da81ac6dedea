/* /v1/documents: files that clients send, translated one after another (uploads/uploads.h). Only
 * the API key that sent a document can use it; without keys, anyone who knows its id. HTTP
 * threads. */
#ifndef DG_SERVER_API_DOCUMENTS_H
#define DG_SERVER_API_DOCUMENTS_H

#include "server/app.h"
#include "server/http/http.h"

/* POST: accept one. */
void dg_api_documents(struct dg_app *app, struct dg_http_exchange *x);
/* GET: its progress; DELETE: remove it. */
void dg_api_document(struct dg_app *app, struct dg_http_exchange *x);
/* GET: the translated file. */
void dg_api_document_result(struct dg_app *app, struct dg_http_exchange *x);

#endif
