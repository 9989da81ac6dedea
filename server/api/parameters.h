/* Parameters of a request of another server's API as one JSON object: the fields of a JSON body,
 * otherwise the parameters of the query and of a form (whose files are ignored). A GET or DELETE
 * without a body has none of JSON, whatever its Content-Type is. HTTP threads. */
#ifndef DG_SERVER_API_PARAMETERS_H
#define DG_SERVER_API_PARAMETERS_H

#include "base/json.h"
#include "server/access/gate.h"
#include "server/request/request.h"

/* *out is to be freed in every case; *form (may be NULL): its values are strings, from a query or
 * form. DG_EINVAL (field "body"), DG_ENOMEM. */
int dg_parameters_read(
    const struct dg_http_request *q, struct dg_json **out, bool *form, struct dg_error *err);
/* The same into the request's tree; parsing of JSON stops when the request ends. A planner's
 * thread. */
int dg_parameters_read_request(struct dg_request *r, bool *form, struct dg_error *err);

/* Check the keys of a JSON body: each has a single value (a form's may repeat), or each is a string
 * (null counts as absent). keys ends with NULL. DG_EINVAL (the key's field). */
int dg_parameters_check_single(
    const struct dg_json *o, bool form, const char *const *keys, struct dg_error *err);
int dg_parameters_check_strings(
    const struct dg_json *o, bool form, const char *const *keys, struct dg_error *err);

/* A parameter; of repeated values the first that is not empty. NULL: absent, or null. */
const struct dg_json *dg_parameter(const struct dg_json *o, const char *key);
/* The parameter as a string; NULL: absent, or not a string. */
const char *dg_parameter_string(const struct dg_json *o, const char *key);

/* Copy the API key that the request holds as this parameter to out; false: none. One pass over the
 * body, which is not parsed: the client has not been admitted yet. */
bool dg_parameters_key(const struct dg_http_exchange *x, const char *name, char out[DG_GATE_KEY]);
/* The same, but only from the query, whatever the body is. */
bool dg_parameters_query_key(
    const struct dg_http_exchange *x, const char *name, char out[DG_GATE_KEY]);
/* The same in "Authorization: SCHEME KEY". */
bool dg_parameters_scheme_key(
    const struct dg_http_exchange *x, const char *scheme, char out[DG_GATE_KEY]);

#endif
