/* Refusals that are written straight onto a connection. Any thread. */
#include "server/http/net.h"

#include <stdio.h>

static const char *status_line(int status)
{
    switch (status) {
    case 408: return "408 Request Timeout";
    case 413: return "413 Content Too Large";
    case 431: return "431 Request Header Fields Too Large";
    default: return "503 Service Unavailable";
    }
}

size_t dg_net_refusal_write(
    char text[DG_NET_REFUSAL_BYTES], int status, const char *headers, const char *body, size_t n)
{
    const int len = snprintf(text, DG_NET_REFUSAL_BYTES,
        "HTTP/1.1 %s\r\nConnection: close\r\n%sX-Content-Type-Options: nosniff\r\n"
        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%.*s",
        status_line(status), headers, n, (int)n, body);
    return len > 0 && len < DG_NET_REFUSAL_BYTES ? (size_t)len : 0;
}

void dg_net_refusal_send(int fd, const char *text, size_t n)
{
    ssize_t k = send(fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)k; /* best effort: the close follows anyway */
}

/* Only a 503 has Retry-After: overload passes by itself. */
void dg_net_refuse(int fd, int status, const char *code, const char *message)
{
    char body[256], text[DG_NET_REFUSAL_BYTES];
    const int n = snprintf(
        body, sizeof body, "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}", code, message);
    if (n > 0 && (size_t)n < sizeof body)
        dg_net_refusal_send(fd, text,
            dg_net_refusal_write(
                text, status, status == 503 ? "Retry-After: 1\r\n" : "", body, (size_t)n));
}
