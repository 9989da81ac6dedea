/* libFuzzer target for every route, end to end: an input is requests, separated by lines "%%%".
 * Each is a method and an address, headers, a blank line and a body; it is sent as well-formed
 * HTTP, whatever it says, through the server's Unix socket (where everything is allowed) to a
 * server with documents, collections, suggestions, a memory of answers and a glossary in a file.
 * "@id" and "@key" become the values of these members in the last answer that has them (a document
 * is translated before the next request), so that requests reach what an earlier one made.
 * fuzz_http covers malformed requests. Property: an answer comes and ends, with an id, and is not a
 * 5xx except 501, 503 and 504; if its type is JSON, it is JSON. (Input that the HTTP library does
 * not take for a request has no answer.) What an input made is deleted after it. */
#include "base/json.h"
#include "tests/fuzz/serve.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { WAIT_MS = 50000, MAX_INPUT = 16384, MAX_HEAD = 2048, MAX_REQUESTS = 6 };
#define BETWEEN "%%%\n"

static struct dg_service service;
static char files[5][128];
/* the values of "@id" and "@key" */
static char made_id[128], made_key[128];
/* [n_made] every id so far, to delete what it names after the input */
static char made[MAX_REQUESTS][128];
static size_t n_made;
static char answer[(1 << 20) + 1];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const names[] = {"socket", "documents.db", "collections.db", "s.db"};
    (void)argc;
    (void)argv;
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < 4; i++)
        snprintf(files[i], sizeof files[i], "%s/%s", fuzz_dir(), names[i]);
    snprintf(files[4], sizeof files[4], "%s", fuzz_file("terms.en-de.tsv", "dog\tHund\n", 9));
    char *const options[] = {"--http-threads", "1", "--glossaries", files[4], "--cache-bytes",
        "1000000", "--unix-socket", files[0], "--documents", files[1], "--collections", files[2],
        "--suggestions", files[3], "--documents-bytes", "4194304", "--documents-keep", "60",
        "--request-timeout", "5", "--batch-timeout", "5", "--access-log", "0"};
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

static size_t hear(int fd, char *out, size_t size)
{
    size_t n = 0;
    for (;;) {
        char rest[4096];
        const int polled = fuzz_poll(fd, WAIT_MS); /* the answer must end by itself */
        if (polled != 1)
            fprintf(stderr, "the answer does not end, after %zu bytes\n", n);
        require(polled == 1);
        ssize_t got = recv(fd, n < size ? out + n : rest, n < size ? size - n : sizeof rest, 0);
        if (got < 0)
            perror("the answer is cut off");
        require(got >= 0);
        if (got == 0)
            return n;
        n += n < size ? (size_t)got : 0;
    }
}

static const char *header_of(const char *head, const char *end, const char *name)
{
    const char *at = strcasestr(head, name);
    return at && at < end ? at + strlen(name) : NULL;
}

static void check_answer(size_t n)
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

/* Sends a request and checks its answer, which is left in answer[]; false: there is none. */
static int exchange(const char *data, size_t size)
{
    static char head[MAX_HEAD + 256];
    size_t body = 0, got = 0;
    const size_t n = make_head(data, size, head, MAX_HEAD, &body);
    if (n == 0)
        return 0;
    int fd = connect_to();
    if (send(fd, head, n, MSG_NOSIGNAL) == (ssize_t)n) {
        if (size > body)
            (void)!send(fd, data + body, size - body, MSG_NOSIGNAL);
        got = hear(fd, answer, sizeof answer - 1);
    }
    answer[got] = '\0';
    check_answer(got);
    close(fd);
    return got > 0;
}

/* Copies the string after the last `before` in the answer; without one, `out` stays. */
static void find_made(const char *before, char *out, size_t cap)
{
    const char *at = NULL;
    for (const char *s = answer; (s = strstr(s, before)) != NULL;)
        at = s += strlen(before);
    const size_t n = at ? strcspn(at, "\"\\ \r\n") : 0;
    if (n > 0 && n < cap)
        snprintf(out, cap, "%.*s", (int)n, at);
}

/* Remembers what the answer calls what was made, and waits until a document is translated. */
static void remember(void)
{
    const int is_document = strstr(answer, "\"document_key\":") || strstr(answer, "\"queued\"");
    char status[192];
    find_made("id\":\"", made_id, sizeof made_id);
    find_made("/download_file/", made_id, sizeof made_id);
    find_made("key\":\"", made_key, sizeof made_key);
    if (n_made == 0 || strcmp(made[n_made - 1], made_id) != 0)
        snprintf(made[n_made++], sizeof made[0], "%s", made_id);
    snprintf(status, sizeof status, "GET /v1/documents/%s\n", made_id);
    for (int left = is_document ? 5000 : 0; left > 0 && exchange(status, strlen(status)); left--) {
        if (!strstr(answer, "\"queued\"") && !strstr(answer, "\"translating\""))
            break;
        usleep(1000);
    }
}

/* The request with the names of what was made in it, malloc'd, without room after it. */
static char *fill_in(const char *s, size_t n, size_t *out_n)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    for (size_t i = 0; i < n;) {
        const int id = n - i >= 3 && memcmp(s + i, "@id", 3) == 0,
                  key = n - i >= 4 && memcmp(s + i, "@key", 4) == 0;
        const char *part = id ? made_id : key ? made_key : s + i;
        dg_buffer_add(&b, part, id || key ? strlen(part) : 1);
        i += id ? 3 : key ? 4 : 1;
    }
    char *out = malloc(b.len ? b.len : 1);
    require(out != NULL && !b.failed);
    if (b.len)
        memcpy(out, b.data, b.len);
    *out_n = b.len;
    dg_buffer_deinit(&b);
    return out;
}

static void delete_made(void)
{
    static const char *const folders[] = {"documents", "glossaries", "memories"};
    char line[192];
    for (size_t i = 0; i < n_made; i++)
        for (size_t k = 0; made[i][0] && k < sizeof folders / sizeof *folders; k++) {
            snprintf(line, sizeof line, "DELETE /v1/%s/%s\n", folders[k], made[i]);
            exchange(line, strlen(line));
        }
    made_id[0] = made_key[0] = '\0';
    n_made = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    if (size > MAX_INPUT)
        return 0;
    for (int i = 0; i < MAX_REQUESTS && at < end; i++) {
        const char *stop = memmem(at, (size_t)(end - at), BETWEEN, strlen(BETWEEN));
        size_t n = 0;
        char *request = fill_in(at, (size_t)((stop ? stop : end) - at), &n);
        if (n <= MAX_INPUT && exchange(request, n))
            remember();
        free(request);
        at = stop ? stop + strlen(BETWEEN) : end;
    }
    delete_made();
    return 0;
}
