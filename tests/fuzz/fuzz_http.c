/* libFuzzer target for the whole server: the input is sent over one connection to a server in this
 * process; lines "%%%" part it, and the server may answer a part before the next one is sent.
 * Property: the server stays up and answers a probe afterwards; its answer begins as HTTP and is
 * not a 5xx, except the HTTP library's own for a chunk extension beyond its buffer, and 501 to 505,
 * which concern the request. */
#include "tests/fuzz/serve.h"

#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

enum { FIRST_MS = 20, NEXT_MS = 3, MAX_INPUT = 8192 };
#define BETWEEN "%%%\n"

static struct dg_service service;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char *const options[] = {"--http-threads", "2", "--address-requests-per-minute", "0",
        "--dialects", "all", "--max-body-bytes", "65536"};
    (void)argc;
    (void)argv;
    signal(SIGPIPE, SIG_IGN);
    fuzz_serve(&service, options, sizeof options / sizeof *options);
    return 0;
}

static int connect_to(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(service.port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require(fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0);
    /* leaves no port in TIME_WAIT: there are only 28,000 */
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
    return fd;
}

/* Receives up to `size` bytes, until nothing comes within first_ms, or NEXT_MS after some data. */
static size_t hear(int fd, char *answer, size_t size, int first_ms)
{
    size_t n = 0;
    while (n < size && fuzz_poll(fd, n > 0 ? NEXT_MS : first_ms) > 0) {
        ssize_t got = recv(fd, answer + n, size - n, 0);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    return n;
}

static void check_alive(void)
{
    static const char probe[] = "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    char answer[64] = "";
    int fd = connect_to();
    require(send(fd, probe, sizeof probe - 1, MSG_NOSIGNAL) == (ssize_t)sizeof probe - 1);
    require(hear(fd, answer, sizeof answer - 1, 10000) > 12);
    require(strncmp(answer, "HTTP/1.1 200", 12) == 0);
    close(fd);
}

/* Sends the parts; the first one's answer is checked. */
static void send_parts(int fd, const char *at, const char *end)
{
    static char answer[1 << 16];
    for (int first = 1; at < end; first = 0) {
        const char *stop = memmem(at, (size_t)(end - at), BETWEEN, strlen(BETWEEN));
        const size_t part = (size_t)((stop ? stop : end) - at);
        if (send(fd, at, part, MSG_NOSIGNAL) != (ssize_t)part)
            return;
        const size_t n = hear(fd, answer, sizeof answer, stop ? NEXT_MS : FIRST_MS);
        require(!first || n < 12 || strncmp(answer, "HTTP/1.", 7) == 0);
        require(
            !first || n < 12 || memcmp(answer + 9, "500", 3) != 0 || memmem(at, part, "hunked", 6));
        at = stop ? stop + strlen(BETWEEN) : end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned runs;
    if (size == 0 || size > MAX_INPUT)
        return 0;
    int fd = connect_to();
    send_parts(fd, (const char *)data, (const char *)data + size);
    close(fd);
    if (++runs % 64 == 0)
        check_alive();
    return 0;
}
