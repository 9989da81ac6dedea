/* Checks parameters as LibreTranslate does, with its messages, which its clients look for. Any
 * thread. */
#ifndef DG_SERVER_API_LIBRETRANSLATE_PARAMETERS_H
#define DG_SERVER_API_LIBRETRANSLATE_PARAMETERS_H

#include "server/api/parameters.h"

/* As dg_parameters_read_request, and checks that strings are strings. */
int dg_lt_read(struct dg_request *r, bool *form, struct dg_error *err);
/* Read a required string that is not empty; of repeated values the first non-empty one.
 * DG_EINVAL. */
int dg_lt_string(const struct dg_json *o, const char *key, const char **out, struct dg_error *err);
/* Check a number of characters or texts against the limit. DG_EINVAL. */
int dg_lt_check_size(size_t size, size_t limit, struct dg_error *err);

#endif
