/* Checks that a request's end is unambiguous. A proxy in front may have seen a different end than
 * we would (request smuggling), so whatever could be read in two ways is refused. Knows headers as
 * strings only. Any thread. */
#ifndef DG_SERVER_HTTP_FRAMING_H
#define DG_SERVER_HTTP_FRAMING_H

#include <stdbool.h>

struct dg_framing {
    /* number of Content-Length and of Transfer-Encoding headers */
    unsigned lengths, encodings;
    unsigned hosts;
    bool chunked, bad_name;
    /* of the body, from a valid Content-Length */
    unsigned long long length;
    bool bad_length;
};

/* Examine one header; call it for each header of a request in turn. f begins zeroed. value may be
 * NULL. */
void dg_framing_header(struct dg_framing *f, const char *name, const char *value);

/* The path of an absolute-form target ("http://host/path", as proxies send it), a pointer into
 * target or "/"; targets of any other form are returned unchanged. */
const char *dg_framing_path(const char *target);

/* What is wrong with the request's framing, or NULL. Static storage. */
const char *dg_framing_fault(const struct dg_framing *f, bool http11);

#endif
