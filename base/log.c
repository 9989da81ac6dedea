#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Below PIPE_BUF (4096): one write() is never mixed with another process's line in a pipe. */
#define LINE_BYTES 4000
#define TEXT_BYTES 3800

static _Atomic int min_level = DG_LOG_INFO;

void dg_log_set_level(enum dg_log_level level)
{
    atomic_store_explicit(&min_level, (int)level, memory_order_relaxed);
}

static const char *level_name(enum dg_log_level level)
{
    switch (level) {
    case DG_LOG_DEBUG: return "debug";
    case DG_LOG_INFO: return "info";
    case DG_LOG_WARN: return "warn";
    default: return "error";
    }
}

/* UTC with milliseconds, RFC 3339. */
static void format_time(char *out, size_t cap)
{
    struct timespec ts = {0};
    struct tm tm;
    char day[32];
    clock_gettime(CLOCK_REALTIME, &ts);
    gmtime_r(&ts.tv_sec, &tm);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, cap, "%s.%03dZ", day, (int)(ts.tv_nsec / 1000000));
}

/* One line stays one line whatever the values hold. */
static void flatten(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = ' ';
}

/* The event is the text before the first key=value, that is before the word with the first '='. */
static size_t event_length(const char *text)
{
    size_t n = strcspn(text, "=");
    if (text[n] == '\0')
        return n;
    while (n > 0 && text[n - 1] != ' ')
        n--;
    return n > 0 ? n - 1 : 0;
}

static void write_all(const char *s, size_t n)
{
    while (n > 0) {
        ssize_t k = write(STDERR_FILENO, s, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return; /* nowhere left to complain */
        s += k;
        n -= (size_t)k;
    }
}

void dg_log(enum dg_log_level level, const char *format, ...)
{
    if ((int)level < atomic_load_explicit(&min_level, memory_order_relaxed))
        return;
    char text[TEXT_BYTES];
    char stamp[64];
    char line[LINE_BYTES];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (n < 0)
        return;
    if ((size_t)n >= sizeof text)
        memcpy(text + sizeof text - 4, "...", 4);
    flatten(text);
    format_time(stamp, sizeof stamp);
    size_t event = event_length(text);
    n = snprintf(line, sizeof line, "ts=%s level=%s event=\"%.*s\"%s\n", stamp, level_name(level),
        (int)event, text, text + event);
    int saved = errno; /* logging between a failed call and its message must not change it */
    if (n > 0 && (size_t)n < sizeof line)
        write_all(line, (size_t)n);
    errno = saved;
}
