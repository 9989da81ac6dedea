/* libFuzzer target for every route, end to end: an input is a method and an address, headers, a
 * blank line and a body; it is sent as well-formed HTTP, whatever it says, through the server's
 * Unix socket (where everything is allowed) to a server with documents, collections and
 * suggestions. fuzz_http covers malformed requests. Property: an answer comes and ends, with an id,
 * and is not a 5xx except 501, 503 and 504; if its type is JSON, it is JSON. (Input that the HTTP
 * library does not take for a request has no answer.) */
#include "base/json.h"
#include "tests/fuzz/serve.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { WAIT_MS = 50000, MAX_INPUT = 16384, MAX_HEAD = 2048 };
static struct dg_service service;
static char files[4][128];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const names[] = {"socket", "documents.db", "collections.db", "s.db"};
    (void)argc;
    (void)argv;
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < 4; i++)
        snprintf(files[i], sizeof files[i], "%s/%s", fuzz_dir(), names[i]);
    char *const options[] = {"--http-threads", "1", "--unix-socket", files[0], "--documents",
        files[1], "--collections", files[2], "--suggestions", files[3], "--documents-bytes",
        "4194304", "--documents-keep", "60", "--request-timeout", "5", "--batch-timeout", "5",
        "--access-log", "0"};
    fuzz_serve(&service, options, sizeof options / sizeof *options);
    return 0;
}

static int connect_to(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", files[0]);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0);
    return fd;
}

/* Returns the end of the letters that the line begins with; NULL: there are none. */
static const char *method_end(const char *line, size_t n)
{
    size_t i = 0;
    while (i < n && isalpha((unsigned char)line[i]))
        i++;
    return i > 0 ? line + i : NULL;
}

/* True for a line of the head without bytes that would end it. Headers that frame the body are
 * refused, since the target sends its own. */
static int is_plain(const char *line, size_t n, int header)
{
    static const char *const framing[] = {
        "content-length", "transfer-encoding", "connection", "expect", "host", "upgrade"};
    for (size_t i = 0; i < n; i++)
        if (line[i] < ' ' || line[i] == 127)
            return 0;
    for (size_t i = 0; header && i < sizeof framing / sizeof *framing; i++)
        if (n >= strlen(framing[i]) && strncasecmp(line, framing[i], strlen(framing[i])) == 0)
            return 0;
    const char *colon = memchr(line, ':', n), *space = memchr(line, ' ', n);
    return header ? colon && colon > line && !memchr(line, ' ', (size_t)(colon - line))
                  : space && space + 1 < line + n && space == method_end(line, n) &&
                        space[1] == '/' && !memchr(space + 1, ' ', (size_t)(line + n - space - 1));
}

/* Makes the request's head from the input; 0: the input is no request. *body is where its body
 * begins. */
static size_t make_head(const char *s, size_t n, char *head, size_t cap, size_t *body)
{
    size_t at = 0, len = 0;
    for (int line = 0;; line++) {
        const char *stop = memchr(s + at, '\n', n - at);
        const size_t m = stop ? (size_t)(stop - s) - at : n - at;
        if (m > 0 && (m + 64 > cap - len || !is_plain(s + at, m, line > 0)))
            return 0;
        if (m == 0 && line == 0)
            return 0;
        if (m > 0)
            len += (size_t)snprintf(
                head + len, cap - len, "%.*s%s\r\n", (int)m, s + at, line ? "" : " HTTP/1.1");
        at += m + (stop != NULL);
        if (m == 0 || !stop)
            break;
    }
    *body = at;
    return len + (size_t)snprintf(head + len, cap - len,
                     "Host: a\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n", n - at);
}

static size_t hear(int fd, char *answer, size_t size)
{
    size_t n = 0;
    for (;;) {
        char rest[4096];
        const int polled = fuzz_poll(fd, WAIT_MS); /* the answer must end by itself */
        if (polled != 1)
            fprintf(stderr, "the answer does not end, after %zu bytes\n", n);
        require(polled == 1);
        ssize_t got = recv(fd, n < size ? answer + n : rest, n < size ? size - n : sizeof rest, 0);
        if (got < 0)
            perror("the answer is cut off");
        require(got >= 0);
        if (got == 0)
            return n;
        n += n < size ? (size_t)got : 0;
    }
}

static const char *header_of(const char *answer, const char *end, const char *name)
{
    const char *at = strcasestr(answer, name);
    return at && at < end ? at + strlen(name) : NULL;
}

static void check_answer(char *answer, size_t n)
{
    if (n == 0) /* the library closes a connection that does not speak HTTP */
        return;
    require(n > 12 && strncmp(answer, "HTTP/1.1 ", 9) == 0);
    const int status = atoi(answer + 9);
    char *end = strstr(answer, "\r\n\r\n");
    require(end != NULL);
    if (status >= 500 && status != 501 && status != 503 && status != 504)
        fprintf(stderr, "%s\n", answer);
    require(status >= 200 && (status < 500 || status == 501 || status == 503 || status == 504));
    /* the library's own answers have no id: SECURITY.md */
    if (!header_of(answer, end, "\r\nX-Request-Id:") && status < 400)
        fprintf(stderr, "no id: %s\n", answer);
    require(header_of(answer, end, "\r\nX-Request-Id:") || status >= 400);
    const char *type = header_of(answer, end, "\r\nContent-Type: application/json");
    const char *length = header_of(answer, end, "\r\nContent-Length: ");
    const size_t said = length ? strtoull(length, NULL, 10) : 0,
                 had = n - (size_t)(end + 4 - answer);
    struct dg_error err = {0};
    if (type && length && said == had && had > 0) {
        struct dg_json *json = dg_json_parse(end + 4, had, &err);
        if (!json)
            fprintf(stderr, "no JSON (%s): %s\n", err.message, answer);
        require(json != NULL);
        dg_json_free(json);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char answer[(1 << 20) + 1], head[MAX_HEAD + 256];
    size_t body = 0;
    if (size > MAX_INPUT)
        return 0;
    const size_t n = make_head((const char *)data, size, head, MAX_HEAD, &body);
    if (n == 0)
        return 0;
    int fd = connect_to();
    if (send(fd, head, n, MSG_NOSIGNAL) == (ssize_t)n) {
        if (size > body)
            (void)!send(fd, data + body, size - body, MSG_NOSIGNAL);
        const size_t got = hear(fd, answer, sizeof answer - 1);
        answer[got] = '\0';
        check_answer(answer, got);
    }
    close(fd);
    return 0;
}
