#include "base/log.h"

#include "base/log_line.h"
#include "base/log_ring.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TEXT_BYTES 3800

static _Atomic int min_level = DG_LOG_INFO;
static _Atomic int line_format = DG_LOG_LOGFMT;

void dg_log_set_level(enum dg_log_level level)
{
    atomic_store_explicit(&min_level, (int)level, memory_order_relaxed);
}

void dg_log_set_format(enum dg_log_format format)
{
    atomic_store_explicit(&line_format, (int)format, memory_order_relaxed);
}

/* Keep one entry on one line, whatever its values contain. */
static void flatten(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = ' ';
}

static size_t format_line(char line[DG_LOG_LINE], enum dg_log_level level, const char *text)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    int format = atomic_load_explicit(&line_format, memory_order_relaxed);
    return dg_log_line(line, (enum dg_log_format)format, level, &now, text);
}

void dg_log(enum dg_log_level level, const char *format, ...)
{
    if ((int)level < atomic_load_explicit(&min_level, memory_order_relaxed))
        return;
    int saved = errno; /* logging between a failed call and its message must not change it */
    char text[TEXT_BYTES], line[DG_LOG_LINE];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (n >= 0) {
        if ((size_t)n >= sizeof text)
            memcpy(text + sizeof text - 4, "...", 4);
        flatten(text);
        dg_log_ring_put(line, format_line(line, level, text));
    }
    errno = saved;
}

static size_t tell_dropped(char line[DG_LOG_LINE], uint64_t n)
{
    char text[64];
    snprintf(text, sizeof text, "log lines dropped n=%llu", (unsigned long long)n);
    return format_line(line, DG_LOG_WARN, text);
}

int dg_log_start(struct dg_error *err)
{
    return dg_log_ring_start(tell_dropped, err);
}

void dg_log_stop(void)
{
    dg_log_ring_stop();
}

uint64_t dg_log_dropped(void)
{
    return dg_log_ring_dropped();
}
