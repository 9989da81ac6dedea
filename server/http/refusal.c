/* Refusals that are written straight onto a socket. Any thread. */
#include "server/http/net.h"

#include <stdio.h>

static const char *status_line(int status)
{
    switch (status) {
    case 408: return "408 Request Timeout";
    case 413: return "413 Content Too Large";
    default: return "503 Service Unavailable";
    }
}

void dg_net_refuse_with(int fd, int status, const char *headers, const char *body, size_t n)
{
    char text[4096];
    const int len = snprintf(text, sizeof text,
        "HTTP/1.1 %s\r\nConnection: close\r\n%sContent-Type: application/json\r\n"
        "Content-Length: %zu\r\n\r\n%.*s",
        status_line(status), headers, n, (int)n, body);
    if (len < 0 || (size_t)len >= sizeof text)
        return;
    ssize_t k = send(fd, text, (size_t)len,
        MSG_DONTWAIT | MSG_NOSIGNAL); /* best effort: the close follows anyway */
    (void)k;
}

/* Only too much at once passes by itself. */
void dg_net_refuse(int fd, const struct dg_net_refusal *r)
{
    char body[256];
    const int n = snprintf(
        body, sizeof body, "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}", r->code, r->message);
    if (n > 0 && (size_t)n < sizeof body)
        dg_net_refuse_with(
            fd, r->status, r->status == 503 ? "Retry-After: 1\r\n" : "", body, (size_t)n);
}
