/* What the API says of the models that are served. Any thread. */
#ifndef DG_SERVER_MODELS_DESCRIBE_H
#define DG_SERVER_MODELS_DESCRIBE_H

#include "base/json.h"

struct dg_models;

/* What GET /v1/models says, an array of one entry for each language pair; the caller frees it. NULL
 * when memory is out. */
struct dg_json *dg_models_describe(struct dg_models *m);

#endif
