/* The fixed refusals that are written straight onto a socket. Any thread. */
#include "server/http/net.h"

#include <stdio.h>

/* The status line, and what goes with it: only too much at once passes by itself. */
static const char *head_of(int status)
{
    switch (status) {
    case 408: return "408 Request Timeout\r\n";
    case 413: return "413 Content Too Large\r\n";
    default: return "503 Service Unavailable\r\nRetry-After: 1\r\n";
    }
}

void dg_net_refuse(int fd, const struct dg_net_refusal *r)
{
    char body[256], text[768];
    int n_body = snprintf(body, sizeof body,
        "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"%s%s%s}}", r->code, r->message,
        r->field ? ",\"field\":\"" : "", r->field ? r->field : "", r->field ? "\"" : "");
    int n = snprintf(text, sizeof text,
        "HTTP/1.1 %sConnection: close\r\n%s%s%sContent-Type: application/json\r\n"
        "Content-Length: %d\r\n\r\n%s",
        head_of(r->status), r->id ? "X-Request-Id: " : "", r->id ? r->id : "", r->id ? "\r\n" : "",
        n_body, body);
    if (n < 0 || (size_t)n >= sizeof text)
        return;
    ssize_t k = send(fd, text, (size_t)n,
        MSG_DONTWAIT | MSG_NOSIGNAL); /* best effort: the close follows anyway */
    (void)k;
}
