#include "convert/pull/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

#define TERMINAL_NS 100000000ULL
#define PLAIN_NS 10000000000ULL

enum { BAR = 24 };

const char *dg_progress_size(uint64_t bytes, char *out, size_t cap)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double v = (double)bytes;
    size_t unit = 0;
    while (v >= 999.5 && unit < sizeof units / sizeof units[0] - 1) {
        v /= 1000;
        unit++;
    }
    snprintf(out, cap, unit > 1 && v < 99.95 ? "%.1f %s" : "%.0f %s", v, units[unit]);
    return out;
}

static const char *time_left(double seconds, char *out, size_t cap)
{
    if (seconds < 90)
        snprintf(out, cap, "%.0f s", seconds);
    else if (seconds < 90 * 60)
        snprintf(out, cap, "%.0f min", seconds / 60);
    else
        snprintf(out, cap, "%.1f h", seconds / 3600);
    return out;
}

/* "45 % of 17.1 MB, 1.2 MB/s, 8 s left", as far as that is known. */
static void describe(const struct dg_progress *p, char *out, size_t cap)
{
    char done[32], total[32], speed[32], left[32];
    const double s = (double)(dg_clock_ns() - p->started_ns) / 1e9;
    const double rate = s > 0 ? (double)(p->done - p->before) / s : 0;
    dg_progress_size((uint64_t)rate, speed, sizeof speed);
    if (!p->total) {
        snprintf(out, cap, "%s, %s/s", dg_progress_size(p->done, done, sizeof done), speed);
        return;
    }
    const double share = 100 * (double)p->done / (double)p->total;
    dg_progress_size(p->total, total, sizeof total);
    if (rate < 1)
        snprintf(out, cap, "%.0f %% of %s", share, total);
    else
        snprintf(out, cap, "%.0f %% of %s, %s/s, %s left", share, total, speed,
            time_left((double)(p->total - p->done) / rate, left, sizeof left));
}

static void show(struct dg_progress *p)
{
    char text[128], bar[BAR + 1];
    describe(p, text, sizeof text);
    p->shown_ns = dg_clock_ns();
    if (!p->terminal) {
        fprintf(stderr, "%s: %s\n", p->name, text);
        return;
    }
    const size_t full = p->total ? (size_t)((double)BAR * (double)p->done / (double)p->total) : 0;
    for (size_t i = 0; i < BAR; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR] = '\0';
    fprintf(stderr, "\r\033[K%.32s [%s] %s", p->name, bar, text);
}

void dg_progress_begin(
    struct dg_progress *p, const char *name, uint64_t total, uint64_t before, bool quiet)
{
    char text[32];
    *p = (struct dg_progress){.name = name,
        .total = total,
        .before = before,
        .done = before,
        .started_ns = dg_clock_ns(),
        .shown_ns = dg_clock_ns(),
        .terminal = isatty(STDERR_FILENO) == 1,
        .quiet = quiet};
    if (!quiet && before)
        fprintf(
            stderr, "%s: %s are here already\n", name, dg_progress_size(before, text, sizeof text));
}

void dg_progress_set(struct dg_progress *p, uint64_t done)
{
    p->done = p->total && done > p->total ? p->total : done;
    if (!p->quiet && dg_clock_ns() - p->shown_ns >= (p->terminal ? TERMINAL_NS : PLAIN_NS))
        show(p);
}

void dg_progress_end(struct dg_progress *p, bool whole)
{
    char size[32];
    if (p->quiet)
        return;
    if (p->terminal)
        fprintf(stderr, "\r\033[K");
    if (whole)
        fprintf(stderr, "%s: %s in %.1f s\n", p->name, dg_progress_size(p->done, size, sizeof size),
            (double)(dg_clock_ns() - p->started_ns) / 1e9);
}
