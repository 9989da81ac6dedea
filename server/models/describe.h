/* Descriptions of the served models for the API. Any thread. */
#ifndef DG_SERVER_MODELS_DESCRIBE_H
#define DG_SERVER_MODELS_DESCRIBE_H

#include "base/json.h"

#include <stdbool.h>

struct dg_models;

/* The reply of GET /v1/models, an array with one entry per language pair; the caller frees it. NULL
 * when memory is out. */
struct dg_json *dg_models_describe(struct dg_models *m);

/* The longest MODEL_CARD.md that is shown whole. */
enum { DG_MODEL_CARD_BYTES = 256 * 1024 };

/* The reply of GET /v1/models/{version}/card: *out is an object that the caller frees, NULL if out
 * of memory. false: no such model is served. Reads MODEL_CARD.md from the bundle's directory. */
bool dg_models_card(struct dg_models *m, const char *version, struct dg_json **out);

#endif
