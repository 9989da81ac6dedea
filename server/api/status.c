#include "server/api/status.h"

#include "base/clock.h"
#include "base/executor.h"
#include "server/api/metrics_page.h"
#include "server/history.h"
#include "server/http/form.h"
#include "server/http/reply.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVERY_NS 10000000000ull
#define KEPT 31 /* five minutes, including both ends */

/* The metrics that server/api/web/status.js draws. */
static const char *const families[] = {"dragoman_requests_total", "dragoman_target_tokens_total",
    "dragoman_http_request_duration_seconds_bucket", "dragoman_queue_depth",
    "dragoman_queue_sentences", "dragoman_queue_wait_seconds_bucket",
    "dragoman_queue_wait_seconds_count", "dragoman_batch_rows_sum", "dragoman_batch_rows_count",
    "dragoman_step_seconds_sum", "dragoman_step_seconds_count", "dragoman_sentences_total",
    "dragoman_characters_total", "process_resident_memory_bytes", "process_start_time_seconds",
    NULL};

struct dg_status {
    struct dg_app *app;
    struct dg_history *history;
    struct dg_work work;
};

/* Samples are timed by the monotonic clock, and shown by the wall clock as it is set now. */
static double steady_s(void)
{
    return (double)dg_clock_ns() * 1e-9;
}

static void keep(void *arg)
{
    struct dg_status *s = arg;
    struct dg_buffer b;
    dg_buffer_init(&b);
    if (dg_metrics_page_write(s->app, NULL, &b))
        dg_history_add(s->history, steady_s(), b.data);
    dg_buffer_deinit(&b);
    dg_executor_post_at(s->app->executor, &s->work, dg_clock_ns() + EVERY_NS);
}

int dg_status_open(struct dg_app *app, struct dg_status **out, struct dg_error *err)
{
    struct dg_status *s = calloc(1, sizeof *s);
    if (!s)
        return dg_error_set(err, DG_ENOMEM, "no memory for the samples of the last minutes");
    s->app = app;
    s->work = (struct dg_work){.run = keep, .arg = s};
    int rc = dg_history_open(families, KEPT, &s->history, err);
    if (rc == DG_OK)
        *out = s;
    else
        free(s);
    return rc;
}

void dg_status_start(struct dg_status *s)
{
    keep(s);
}

void dg_status_close(struct dg_status *s)
{
    if (!s)
        return;
    dg_history_close(s->history);
    free(s);
}

/* A real number is written with nine digits; counters of months, and times, need more. */
static void set_value(struct dg_json *o, const char *name, double v)
{
    if (isfinite(v) && fabs(v) < 0x1p53 && (v == floor(v) || fabs(v) >= 1e6))
        dg_json_set_int(o, name, llround(v));
    else
        dg_json_set_real(o, name, v);
}

/* Each line `name{labels} value` as a member "name{labels}"; comments are passed over. */
static struct dg_json *samples_of(const char *text)
{
    struct dg_json *samples = dg_json_new_object();
    while (*text) {
        const size_t n = strcspn(text, "\n");
        const char *space = text[0] == '#' ? NULL : memrchr(text, ' ', n);
        char name[512];
        if (space && (size_t)(space - text) < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)(space - text), text);
            set_value(samples, name, strtod(space, NULL));
        }
        text += n + (text[n] == '\n');
    }
    return samples;
}

static void set_time(struct dg_json *o, double at)
{
    dg_json_set_int(o, "at_ms", llround(1000 * at));
}

static struct dg_json *earlier_of(struct dg_history *h)
{
    struct dg_json *list = dg_json_new_array();
    const double ahead_s = dg_clock_wall_s() - steady_s();
    uint64_t cursor = 0;
    double at = 0;
    for (char *text; (text = dg_history_next(h, &cursor, &at)) != NULL; free(text)) {
        struct dg_json *o = dg_json_new_object();
        set_time(o, at + ahead_s);
        dg_json_set_take(o, "samples", samples_of(text));
        dg_json_append_take(list, o);
    }
    return list;
}

/* Whether the query asks for the last minutes, too. */
static int read_earlier(const char *query, bool *earlier, struct dg_error *err)
{
    struct dg_json *o = dg_json_new_object();
    int rc = dg_form_read(query, strlen(query), o, err);
    const struct dg_json *v = rc == DG_OK ? dg_json_get(o, "earlier") : NULL;
    const char *word = v ? dg_json_string(v, NULL) : "false";
    *earlier = word && strcmp(word, "true") == 0;
    if (rc == DG_OK && (!word || (!*earlier && strcmp(word, "false") != 0)))
        rc = dg_error_field(err, DG_EINVAL, "earlier", "earlier must be true or false");
    dg_json_free(o);
    return rc;
}

void dg_status_figures(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {0};
    struct dg_error err = {0};
    struct dg_buffer b;
    bool earlier = false;
    dg_buffer_init(&b);
    if (read_earlier(dg_http_request(x)->query, &earlier, &err) != DG_OK) {
        dg_reply_failure(&r, &err);
    } else if (dg_metrics_page_write(app, x, &b)) {
        struct dg_json *root = dg_json_new_object();
        dg_json_set_string(root, "version", DG_VERSION);
        set_time(root, dg_clock_wall_s());
        dg_json_set_take(root, "samples", samples_of(b.data));
        if (earlier)
            dg_json_set_take(root, "earlier", earlier_of(app->status->history));
        dg_reply_json_take(&r, 200, root);
    } else {
        dg_reply_error(&r, 503, "overloaded", NULL, "no memory for the answer");
    }
    dg_http_reply_header(&r, "Cache-Control", "no-store");
    dg_buffer_deinit(&b);
    dg_http_reply_take(x, &r);
}
