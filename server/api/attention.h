/* POST /v1/attention: the attention weights of one sentence and its translation. Handler as
 * routes.h has it; the weights are computed aside.h's way. */
#ifndef DG_SERVER_API_ATTENTION_H
#define DG_SERVER_API_ATTENTION_H

#include "server/app.h"
#include "server/http/http.h"

/* Pieces a side: all heads of 6 layers are then 10 MB of JSON. */
#define DG_ATTENTION_MAX_PIECES 128
/* Requests that may wait for one that runs. */
#define DG_ATTENTION_MAX_WAITING 8
/* Requests whose answers are not read to their end yet: each is whole in memory until then. */
#define DG_ATTENTION_MAX_OPEN 32

void dg_api_attention(struct dg_app *app, struct dg_http_exchange *x);

#endif
