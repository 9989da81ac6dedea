/* Is a request's end beyond doubt? A proxy in front may have seen another end than we would
 * (request smuggling), so whatever could be read in two ways is refused. Knows headers as strings
 * only. Any thread. */
#ifndef DG_SERVER_HTTP_FRAMING_H
#define DG_SERVER_HTTP_FRAMING_H

#include <stdbool.h>

struct dg_framing {
    /* how many Content-Length and Transfer-Encoding headers */
    unsigned lengths, encodings;
    unsigned hosts;
    bool chunked, bad_name;
    /* of the body, when there is a good Content-Length */
    unsigned long long length;
    bool bad_length;
};

/* Look at each header of a request in turn; f begins zeroed. value may be NULL. */
void dg_framing_header(struct dg_framing *f, const char *name, const char *value);

/* The path of an absolute-form target ("http://host/path", as proxies send it), within target; what
 * has another form comes back as it is. */
const char *dg_framing_path(const char *target);

/* What is wrong with it all, or NULL. Static storage. */
const char *dg_framing_fault(const struct dg_framing *f, bool http11);

#endif
