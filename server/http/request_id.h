/* The id of a request, for logs and headers. Any thread. */
#ifndef DG_SERVER_HTTP_REQUEST_ID_H
#define DG_SERVER_HTTP_REQUEST_ID_H

#include <stddef.h>
#include <stdint.h>

/* out[cap]: the client's (may be NULL) when it is short and plain, else one made from seed and a
 * counter, distinct for distinct counters. cap >= 17. */
void dg_request_id_choose(
    const char *given, uint64_t seed, uint64_t counter, char *out, size_t cap);

#endif
