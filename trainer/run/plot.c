/* DESIGN. A panel is a key of the log's lines over "update": every line that has the key is a
 * point. Each run has its colour in all panels; validation is dashed with dots. The SVG is plain
 * shapes and text, readable without scripts. */
#include "trainer/run/plot.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "base/svg.h"
#include "text/utf8.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PANEL_W = 480,
    PANEL_H = 260,
    LEFT = 64,
    RIGHT = 24,
    TOP = 34,
    BOTTOM = 40,
    HEAD = 24,
    ROW = 18,
    MAX_POINTS = 600
};

struct point {
    double x, y;
};

struct series {
    /* [n] */
    struct point *at;
    size_t n, cap;
};

struct curve {
    /* "kind" of the log's lines, and the member to plot */
    const char *kind, *key;
    bool dots;
};

struct panel {
    const char *title;
    struct curve curves[2];
    /* the axis begins at 0 */
    bool from_zero;
};

static const struct panel panels[] = {
    {"loss per target piece (line: training, dots: validation)",
        {{"train", "loss", false}, {"valid", "loss", true}}, false},
    {"BLEU (dots) on the development set", {{"valid", "bleu", true}, {NULL, NULL, false}}, true},
    {"learning rate", {{"train", "lr", false}, {NULL, NULL, false}}, true},
    {"source + target tokens per second", {{"train", "tokens_per_s", false}, {NULL, NULL, false}},
        true},
};

enum { N_PANELS = sizeof panels / sizeof panels[0], COLUMNS = 2 };

static void series_add(struct series *s, double x, double y)
{
    s->at = dg_alloc_grow(s->at, s->n + 1, &s->cap, sizeof *s->at, "the points of a curve");
    s->at[s->n++] = (struct point){x, y};
}

/* Replace neighbours by their mean when there are more points than can be seen. */
static void series_thin(struct series *s)
{
    size_t step = (s->n + MAX_POINTS - 1) / MAX_POINTS, out = 0;
    for (size_t i = 0; step > 1 && i < s->n; i += step, out++) {
        size_t end = i + step < s->n ? i + step : s->n;
        struct point sum = {0, 0};
        for (size_t j = i; j < end; j++) {
            sum.x += s->at[j].x;
            sum.y += s->at[j].y;
        }
        s->at[out] = (struct point){sum.x / (double)(end - i), sum.y / (double)(end - i)};
    }
    if (step > 1)
        s->n = out;
}

/* Append a run's log to all[panel * 2 + curve]. Lines that are not JSON (a killed run's last) are
 * skipped. */
static int read_log(const char *path, struct series *all, struct dg_error *err)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    int rc = dg_file_read(path, &b, err);
    for (size_t i = 0; rc == 0 && i < b.len;) {
        const char *end = memchr(b.data + i, '\n', b.len - i);
        size_t n = end ? (size_t)(end - b.data) - i : b.len - i;
        struct dg_json *v = dg_json_parse(b.data + i, n, NULL);
        const char *kind = dg_json_string(dg_json_get(v, "kind"), NULL);
        for (size_t c = 0; kind && c < N_PANELS * 2; c++) {
            const struct curve *curve = &panels[c / 2].curves[c % 2];
            const struct dg_json *y = curve->key ? dg_json_get(v, curve->key) : NULL;
            if (y && dg_json_typeof(y) != DG_JSON_NULL && strcmp(kind, curve->kind) == 0)
                series_add(&all[c], dg_json_number(dg_json_get(v, "update")), dg_json_number(y));
        }
        dg_json_free(v);
        i += n + 1;
    }
    dg_buffer_deinit(&b);
    for (size_t c = 0; c < N_PANELS * 2; c++)
        if (!panels[c / 2].curves[c % 2].dots)
            series_thin(&all[c]);
    return rc;
}

/* Step of an axis: 1, 2 or 5 times a power of ten, for about four steps over the span. */
static double nice_step(double span)
{
    double raw = span / 4, power = pow(10, floor(log10(raw)));
    double lead = raw / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

struct axis {
    double low, high, step;
};

static struct axis make_axis(double low, double high)
{
    if (!(high > low)) {
        double pad = fabs(low) > 0 ? fabs(low) * 0.1 : 1;
        low -= pad;
        high += pad;
    }
    double step = nice_step(high - low);
    return (struct axis){floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step, step};
}

static void add_number(struct dg_buffer *out, double v, double step)
{
    if (v == 0)
        dg_buffer_adds(out, "0");
    else if (fabs(v) >= 10000)
        dg_buffer_addf(out, "%gk", v / 1000);
    else if (step < 0.001)
        dg_buffer_addf(out, "%.2g", v);
    else
        dg_buffer_addf(out, "%.*f", step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3, v);
}

static double at_x(const struct axis *a, double v)
{
    return LEFT + (v - a->low) / (a->high - a->low) * (PANEL_W - LEFT - RIGHT);
}

static double at_y(const struct axis *a, double v)
{
    return PANEL_H - BOTTOM - (v - a->low) / (a->high - a->low) * (PANEL_H - TOP - BOTTOM);
}

static void draw_grid(struct dg_buffer *out, const struct axis *x, const struct axis *y)
{
    for (double v = y->low; v <= y->high + y->step / 2; v += y->step) {
        dg_buffer_addf(out,
            "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/><text x=\"%d\" "
            "y=\"%.1f\" "
            "text-anchor=\"end\">",
            LEFT, PANEL_W - RIGHT, at_y(y, v), at_y(y, v), LEFT - 6, at_y(y, v) + 4);
        add_number(out, v, y->step);
        dg_buffer_adds(out, "</text>\n");
    }
    for (double v = x->low; v <= x->high + x->step / 2; v += x->step) {
        dg_buffer_addf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", at_x(x, v),
            PANEL_H - BOTTOM + 16);
        add_number(out, v, x->step);
        dg_buffer_adds(out, "</text>\n");
    }
    dg_buffer_addf(out,
        "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" class=\"soft\">updates</text>\n",
        PANEL_W - RIGHT, PANEL_H - 6);
}

static void draw_series(struct dg_buffer *out, const struct series *s, const struct axis *x,
    const struct axis *y, const char *colour, bool dots)
{
    dg_buffer_addf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"%s points=\"",
        colour, dots ? " stroke-dasharray=\"3 3\"" : "");
    for (size_t i = 0; i < s->n; i++)
        dg_buffer_addf(out, "%.1f,%.1f ", at_x(x, s->at[i].x), at_y(y, s->at[i].y));
    dg_buffer_adds(out, "\"/>\n");
    for (size_t i = 0; dots && i < s->n; i++)
        dg_buffer_addf(out,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"><title>%g at "
            "%g</title></circle>\n",
            at_x(x, s->at[i].x), at_y(y, s->at[i].y), colour, s->at[i].y, s->at[i].x);
}

static void draw_panel(struct dg_buffer *out, size_t p, const struct series *all, size_t runs)
{
    double x0 = 0, x1 = 0, y0 = INFINITY, y1 = -INFINITY;
    for (size_t i = 0; i < runs * 2; i++) {
        const struct series *s = &all[(i / 2 * N_PANELS + p) * 2 + i % 2];
        for (size_t j = 0; j < s->n; j++) {
            x1 = fmax(x1, s->at[j].x);
            y0 = fmin(y0, s->at[j].y);
            y1 = fmax(y1, s->at[j].y);
        }
    }
    dg_buffer_addf(
        out, "<text x=\"%d\" y=\"18\" font-weight=\"bold\">%s</text>\n", LEFT, panels[p].title);
    if (!(y1 >= y0)) {
        dg_buffer_addf(out, "<text x=\"%d\" y=\"%d\" class=\"soft\">not measured yet</text>\n",
            LEFT, PANEL_H / 2);
        return;
    }
    struct axis x = make_axis(x0, x1), y = make_axis(panels[p].from_zero ? fmin(y0, 0) : y0, y1);
    draw_grid(out, &x, &y);
    for (size_t i = 0; i < runs * 2; i++)
        draw_series(out, &all[(i / 2 * N_PANELS + p) * 2 + i % 2], &x, &y, dg_svg_colour(i / 2),
            panels[p].curves[i % 2].dots);
}

static void draw(
    struct dg_buffer *out, const char *const *logs, const struct series *all, size_t runs)
{
    int head = HEAD + ROW * (int)runs, rows = (N_PANELS + COLUMNS - 1) / COLUMNS;
    int w = COLUMNS * PANEL_W, h = head + rows * PANEL_H;
    dg_svg_begin(out, (size_t)w, (size_t)h, 12);
    for (size_t i = 0; i < runs; i++) {
        int y = HEAD + ROW * (int)i;
        dg_buffer_addf(out,
            "<rect x=\"%d\" y=\"%d\" width=\"18\" height=\"4\" fill=\"%s\"/><text x=\"%d\" "
            "y=\"%d\">",
            LEFT, y - 6, dg_svg_colour(i), LEFT + 26, y);
        dg_svg_text(out, logs[i], dg_utf8_check(logs[i], strlen(logs[i]), NULL) == 0);
        dg_buffer_adds(out, "</text>\n");
    }
    for (size_t p = 0; p < N_PANELS; p++) {
        dg_buffer_addf(out, "<g transform=\"translate(%d %d)\">\n", (int)(p % COLUMNS) * PANEL_W,
            head + (int)(p / COLUMNS) * PANEL_H);
        draw_panel(out, p, all, runs);
        dg_buffer_adds(out, "</g>\n");
    }
    dg_svg_end(out);
}

int dg_plot(const char *const *logs, size_t n, const char *svg, struct dg_error *err)
{
    struct dg_buffer out;
    /* [run][panel][curve] */
    struct series *all = dg_alloc(n * N_PANELS * 2 + 1, sizeof *all, "runs");
    size_t points = 0;
    dg_buffer_init(&out);
    int rc = dg_file_spare(svg, logs, n, err);
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = read_log(logs[i], &all[i * N_PANELS * 2], err);
        for (size_t c = 0; c < N_PANELS * 2; c++)
            points += all[i * N_PANELS * 2 + c].n;
    }
    if (rc == 0 && points == 0)
        rc = dg_error_set(
            err, DG_EINVAL, "%s holds no lines of training or validation", n ? logs[0] : "no log");
    if (rc == 0) {
        draw(&out, logs, all, n);
        dg_alloc_check(!out.failed, "a picture");
        rc = dg_file_write(svg, out.data, out.len, err);
    }
    for (size_t i = 0; all && i < n * N_PANELS * 2; i++)
        free(all[i].at);
    free(all);
    dg_buffer_deinit(&out);
    return rc;
}
