#include "trainer/progress.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define INTERVAL_NS UINT64_C(100000000)

enum { WIDEST_BAR = 24 };

void dg_progress_init(struct dg_progress *p, bool wanted)
{
    memset(p, 0, sizeof *p);
    p->on = wanted && isatty(STDERR_FILENO);
}

bool dg_progress_due(struct dg_progress *p)
{
    if (!p->on)
        return false;
    uint64_t now = dg_clock_ns();
    if (p->last_ns && now - p->last_ns < INTERVAL_NS)
        return false;
    p->last_ns = now;
    return true;
}

int dg_progress_columns(void)
{
    struct winsize w;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col - 1 : 79;
}

void dg_progress_draw(struct dg_progress *p, const char *line)
{
    if (!p->on)
        return;
    fprintf(stderr, "\r%.*s\033[K", dg_progress_columns(), line);
    fflush(stderr);
    p->drawn = true;
}

void dg_progress_clear(struct dg_progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = false;
}

/* Write "[=====>    ]" with `width` cells to out[width + 3]; share 0 to 1. */
static void bar_of(double share, int width, char *out)
{
    int full = share >= 1 ? width : share > 0 ? (int)(share * width) : 0;
    out[0] = '[';
    for (int i = 0; i < width; i++)
        out[i + 1] = i < full ? '=' : i == full ? '>' : ' ';
    out[width + 1] = ']';
    out[width + 2] = '\0';
}

void dg_progress_time(double seconds, char out[32])
{
    if (!isfinite(seconds) || seconds < 0 || seconds > 1e9) {
        snprintf(out, 32, "--:--");
        return;
    }
    long s = lrint(seconds);
    if (s < 3600)
        snprintf(out, 32, "%ld:%02ld", s / 60, s % 60);
    else if (s < 86400)
        snprintf(out, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, 32, "%ld d %02ld:%02ld", s / 86400, s / 3600 % 24, s / 60 % 60);
}

void dg_progress_count(uint64_t n, char out[32])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), j = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            out[j++] = ',';
        out[j++] = digits[i];
    }
    out[j] = '\0';
}

void dg_progress_pairs(struct dg_progress *p, const char *doing, uint64_t done, uint64_t all)
{
    char n_done[32], n_all[32], bar[40], line[160];
    if (!dg_progress_due(p))
        return;
    dg_progress_count(done, n_done);
    dg_progress_count(all, n_all);
    bar_of((double)done / (double)all, 24, bar);
    snprintf(line, sizeof line, "%s  %s %s of %s pairs", doing, bar, n_done, n_all);
    dg_progress_draw(p, line);
}

void dg_progress_training_line(
    const struct dg_progress_training *t, int columns, char out[DG_PROGRESS_LINE])
{
    char done[32], all[32], rate[32], left[32], bar[WIDEST_BAR + 3], scores[2][64];
    dg_progress_count((uint64_t)t->update, done);
    dg_progress_count((uint64_t)t->updates, all);
    dg_progress_count((uint64_t)t->tokens_per_s, rate);
    dg_progress_time(t->seconds_left, left);
    snprintf(scores[0], sizeof scores[0], " loss %.3f ", t->loss);
    snprintf(scores[1], sizeof scores[1], " ppl %.2f ", t->perplexity);
    /* Width of the line without scores, bar and the blanks beside the bar. */
    const int least = (int)(strlen(done) + 1 + strlen(all) + strlen("  tokens/s  ETA ") +
                            strlen(rate) + strlen(left));
    int n = 2, room = columns - least - (int)(strlen(scores[0]) + strlen(scores[1]));
    while (n > 0 && room < 0)
        room += (int)strlen(scores[--n]);
    /* "[", "]" and a blank take three columns; a bar of fewer than four cells is useless. */
    const int cells = room - 3 > WIDEST_BAR ? WIDEST_BAR : room - 3;
    bar[0] = '\0';
    if (t->epoch > 0 && snprintf(bar, sizeof bar, "epoch %.2f", t->epoch) + 2 > room)
        bar[0] = '\0';
    else if (t->epoch <= 0 && cells >= 4)
        bar_of(t->updates > 0 ? (double)t->update / (double)t->updates : 0, cells, bar);
    snprintf(out, DG_PROGRESS_LINE, "%s/%s%s%s%s%s %s tokens/s  ETA %s", done, all, *bar ? " " : "",
        bar, n > 0 ? scores[0] : "", n > 1 ? scores[1] : "", rate, left);
}
