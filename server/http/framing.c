#include "server/http/framing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void take_length(struct dg_framing *f, const char *value)
{
    f->lengths++;
    if (!value || value[0] == '\0' || value[strspn(value, "0123456789")] != '\0') {
        f->bad_length = true;
        return;
    }
    errno = 0;
    f->length = strtoull(value, NULL, 10);
    f->bad_length = errno != 0;
}

void dg_framing_header(struct dg_framing *f, const char *name, const char *value)
{
    if (strpbrk(name, " \t\r\n\v\f"))
        f->bad_name = true;
    if (strcasecmp(name, "Content-Length") == 0) {
        take_length(f, value);
    } else if (strcasecmp(name, "Host") == 0) {
        f->hosts++;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        f->encodings++;
        f->chunked = value && strcasecmp(value, "chunked") == 0;
    }
}

const char *dg_framing_path(const char *target)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(schemes[i]);
        if (strncasecmp(target, schemes[i], n) == 0 && target[n] != '/' && target[n] != '\0')
            return target[n + strcspn(target + n, "/")] != '\0' ? strchr(target + n, '/') : "/";
    }
    return target;
}

const char *dg_framing_fault(const struct dg_framing *f, bool http11)
{
    if (f->bad_name)
        return "a header name contains white space";
    if (f->hosts > 1)
        return "Host is given more than once";
    if (f->lengths > 0 && f->encodings > 0)
        return "Content-Length and Transfer-Encoding are both given";
    if (f->lengths > 1)
        return "Content-Length is given more than once";
    if (f->encodings > 1)
        return "Transfer-Encoding is given more than once";
    if (f->encodings == 1 && !f->chunked)
        return "Transfer-Encoding must be chunked";
    if (f->encodings == 1 && !http11)
        return "Transfer-Encoding needs HTTP/1.1";
    if (f->bad_length)
        return "Content-Length is not a number";
    return NULL;
}
