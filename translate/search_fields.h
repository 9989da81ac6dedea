/* Search settings as fields (base/fields.h): the names, ranges and meanings that the HTTP API, the
 * command line and documents share. Constant tables; any thread. */
#ifndef DG_TRANSLATE_SEARCH_FIELDS_H
#define DG_TRANSLATE_SEARCH_FIELDS_H

#include "base/fields.h"
#include "model/engine/beam.h"

/* the largest max_length */
enum { DG_MAX_LENGTH = 4096 };

/* beam_size and length_penalty; given[2] as in dg_fields, or NULL. Absent fields keep their value:
 * see dg_search_init. */
struct dg_fields dg_search_fields(struct dg_search *s, unsigned char *given);
/* n_best. */
struct dg_fields dg_n_best_fields(struct dg_search *s);
/* length_penalty_kind, length_penalty_cap and max_length, which the HTTP API does not offer;
 * given[3]. */
struct dg_fields dg_length_fields(struct dg_search *s, unsigned char *given);
/* temperature, top_k and seed. */
struct dg_fields dg_sampling_fields(struct dg_sampling *s);

/* Set all settings to the model's defaults. */
void dg_search_init(struct dg_search *s);

#endif
