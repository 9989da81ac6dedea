/* Parameters of a request of another server's API: fields of a JSON object, otherwise parameters of
 * the query and of a form (its files are ignored), as one JSON object. HTTP threads. */
#ifndef DG_SERVER_API_PARAMETERS_H
#define DG_SERVER_API_PARAMETERS_H

#include "base/json.h"
#include "server/access/gate.h"
#include "server/request/request.h"

/* *out, to be freed in every case; *form: its values are strings. DG_EINVAL (field "body"),
 * DG_ENOMEM. */
int dg_parameters_read(
    const struct dg_http_exchange *x, struct dg_json **out, bool *form, struct dg_error *err);
/* The same into the request's tree; reading JSON ends when the request does. A planner's thread. */
int dg_parameters_read_request(struct dg_request *r, bool *form, struct dg_error *err);

/* In JSON these are one value each (a form's may come several times), or strings (null counts as
 * absent). keys ends with NULL. DG_EINVAL (the key's field). */
int dg_parameters_check_single(
    const struct dg_json *o, bool form, const char *const *keys, struct dg_error *err);
int dg_parameters_check_strings(
    const struct dg_json *o, bool form, const char *const *keys, struct dg_error *err);

/* A parameter; of several of the same name the first that is not empty. NULL: absent, or null. */
const struct dg_json *dg_parameter(const struct dg_json *o, const char *key);
/* It as a string; NULL: absent, or none. */
const char *dg_parameter_string(const struct dg_json *o, const char *key);

/* The API key that the request holds as this parameter, in out; false: none. One pass over the
 * body, which is not parsed: nobody has been let in yet. */
bool dg_parameters_key(const struct dg_http_exchange *x, const char *name, char out[DG_GATE_KEY]);
/* The same, only from the query, whatever the body is. */
bool dg_parameters_query_key(
    const struct dg_http_exchange *x, const char *name, char out[DG_GATE_KEY]);
/* The same in "Authorization: SCHEME KEY". */
bool dg_parameters_scheme_key(
    const struct dg_http_exchange *x, const char *scheme, char out[DG_GATE_KEY]);

#endif
