/* Hands an exchange's reply to the library: compresses it and adds the headers of every reply. */
#include "server/http/compress.h"
#include "server/http/exchange.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dg_http_reply_header(struct dg_http_reply *r, const char *name, const char *format, ...)
{
    assert(r->n_headers < DG_HTTP_MAX_HEADERS);
    if (r->n_headers == DG_HTTP_MAX_HEADERS)
        return;
    va_list ap;
    va_start(ap, format);
    vsnprintf(r->headers[r->n_headers].value, sizeof r->headers[0].value, format, ap);
    va_end(ap);
    r->headers[r->n_headers++].name = name;
}

void dg_http_reply_take(struct dg_http_exchange *x, struct dg_http_reply *r)
{
    assert(!x->replied);
    x->reply = *r;
    x->replied = true;
    memset(r, 0, sizeof *r);
}

/* Compress the body if the client accepts that and it pays. Every reply that may be compressed gets
 * Vary, because caches must know that it depends on what the client accepts. */
static void compress(struct dg_http_exchange *x)
{
    struct dg_http_reply *r = &x->reply;
    size_t n = r->body_len;
    if (!dg_compress_pays(r->content_type, n))
        return;
    const enum dg_compress_coding coding =
        dg_compress_choose(dg_http_header(x, MHD_HTTP_HEADER_ACCEPT_ENCODING));
    x->varies = true;
    const char *fixed = r->fixed ? dg_http_fixed_coded(x->http, r->fixed, coding, &n) : NULL;
    char *smaller = r->fixed ? NULL : dg_compress(coding, r->body, r->body_len, &n);
    if (!fixed && !smaller)
        return;
    free(r->body);
    r->body = smaller;
    r->fixed = fixed;
    r->body_len = n;
    x->coding = dg_compress_name(coding);
}

/* Reserve memory for a large reply from the limit that all large replies share: a reply stays in
 * memory until its client has read it, and many slow downloads of a large document would exhaust
 * memory. Above the limit, the reply becomes a 503. */
static void reserve(struct dg_http_exchange *x)
{
    struct dg_http *http = x->http;
    const size_t n = x->reply.body_len, most = http->o.max_replies_bytes;
    if (x->streaming || n < DG_HTTP_LARGE_REPLY || most == 0)
        return;
    const size_t before = atomic_fetch_add(&http->replies_bytes, n);
    x->reply_bytes = n;
    if (before == 0 || before + n <= most)
        return;
    atomic_fetch_sub(&http->replies_bytes, n);
    x->reply_bytes = 0;
    free(x->reply.body);
    memset(&x->reply, 0, sizeof x->reply);
    http->o.refuse(http->o.app, x, 503, "overloaded",
        "clients are reading too many large replies: try again", &x->reply);
    dg_http_reply_header(&x->reply, "Retry-After", "1");
}

static struct MHD_Response *make_response(struct dg_http_exchange *x)
{
    struct dg_http_reply *r = &x->reply;
    if (x->streaming)
        return dg_http_stream_response(x);
    compress(x);
    void *data = r->fixed ? (void *)(uintptr_t)r->fixed : r->body;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        r->body_len, data, r->body ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (!response)
        free(r->body);
    r->body = NULL; /* the response's now */
    x->sent_bytes = r->body_len;
    return response;
}

/* Add one header; sets *lost when there was no memory for it. The library reports only that a
 * header was not added, which it also does for an empty value. */
static void add(struct MHD_Response *response, const char *name, const char *value, bool *lost)
{
    errno = 0;
    if (MHD_add_response_header(response, name, value) != MHD_YES && errno == ENOMEM)
        *lost = true;
}

/* Add the headers of a reply. False: one is missing for lack of memory, so the reply would be
 * misread: a body without its type, or without its coding. */
static bool add_headers(struct dg_http_exchange *x, struct MHD_Response *response)
{
    const struct dg_http_reply *r = &x->reply;
    bool lost = false;
    if (r->content_type)
        add(response, MHD_HTTP_HEADER_CONTENT_TYPE, r->content_type, &lost);
    for (size_t i = 0; i < r->n_headers; i++)
        add(response, r->headers[i].name, r->headers[i].value, &lost);
    for (const char *const(*h)[2] = x->headers; h && (*h)[0]; h++)
        add(response, (*h)[0], (*h)[1], &lost);
    if (x->varies)
        add(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING, &lost);
    if (x->coding)
        add(response, MHD_HTTP_HEADER_CONTENT_ENCODING, x->coding, &lost);
    add(response, "X-Content-Type-Options", "nosniff", &lost);
    if (dg_http_encrypted(x))
        add(response, "Strict-Transport-Security", "max-age=31536000", &lost);
    add(response, "X-Request-Id", x->id, &lost);
    if (x->id_header)
        add(response, x->id_header, x->id, &lost);
    if (x->trace[0] != '\0')
        add(response, "traceparent", x->trace, &lost);
    if (r->close || atomic_load(&x->http->draining))
        add(response, MHD_HTTP_HEADER_CONNECTION, "close", &lost);
    return !lost;
}

enum MHD_Result dg_exchange_send(struct dg_http_exchange *x)
{
    struct dg_http_reply *r = &x->reply;
    reserve(x);
    struct MHD_Response *response = make_response(x);
    if (!response)
        return MHD_NO;
    if (x->http->o.mark)
        x->http->o.mark(x->http->o.app, x, r);
    if (!add_headers(x, response)) {
        MHD_destroy_response(response);
        return MHD_NO; /* the library closes the connection */
    }
    x->status = r->status;
    dg_net_phase(x->http->net, x->net_id, DG_NET_WRITING);
    enum MHD_Result rc = MHD_queue_response(x->mhd, (unsigned)r->status, response);
    MHD_destroy_response(response);
    return rc;
}
