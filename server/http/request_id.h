/* The id of a request and the trace that it is part of, for logs and headers. Any thread. */
#ifndef DG_SERVER_HTTP_REQUEST_ID_H
#define DG_SERVER_HTTP_REQUEST_ID_H

#include <stddef.h>
#include <stdint.h>

/* Set out[cap] to the client's id (may be NULL) when it is short and plain, else to one made from
 * seed and counter, distinct for distinct counters. cap >= 17. */
void dg_request_id_choose(
    const char *given, uint64_t seed, uint64_t counter, char *out, size_t cap);

/* "00-", 32 digits, "-", 16 digits, "-", two digits (W3C Trace Context). */
#define DG_TRACE_PARENT_BYTES 56

/* Set out to the client's traceparent (may be NULL) when it is well-formed and of version 00, else
 * to "". */
void dg_trace_parent_choose(const char *given, char out[DG_TRACE_PARENT_BYTES]);
/* The 32-digit trace id of a traceparent; "-" when that is "". */
void dg_trace_id(const char *parent, char out[33]);

#endif
