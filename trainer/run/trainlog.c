#include "trainer/run/trainlog.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "trainer/progress.h"
#include "trainer/run/tensorboard.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RATE_SECONDS 20.0    /* time constant of the bar's average rates */
enum { PLAIN_COLUMNS = 79 }; /* line width without a terminal */

struct dg_trainlog {
    int file;
    /* the last line could not be written */
    bool failing;
    /* NULL: no file */
    char *path;
    /* NULL: none */
    struct dg_tensorboard *tensorboard;
    struct dg_progress bar;
    /* update of the last training line; at first the update that the session begins after */
    int64_t logged;
    /* decaying averages for the bar */
    uint64_t tick_ns;
    double updates_per_s, tokens_per_s, loss, nll;
};

/* Keep only lines whose "update" is at most `keep`. Lines that are not JSON (a killed run's last
 * one) are dropped, too. */
static int cut_log(const char *path, int64_t keep, struct dg_error *err)
{
    struct dg_buffer in, out;
    struct dg_error missing = {0};
    int rc;
    dg_buffer_init(&in);
    dg_buffer_init(&out);
    rc = dg_file_read(path, &in, &missing);
    if (rc) {
        rc = rc == DG_ENOTFOUND ? 0 : dg_error_set(err, rc, "%s", missing.message);
        goto out;
    }
    for (size_t i = 0; i < in.len;) {
        const char *end = memchr(in.data + i, '\n', in.len - i);
        size_t n = end ? (size_t)(end - in.data) - i : in.len - i;
        struct dg_json *v = end ? dg_json_parse(in.data + i, n, NULL) : NULL;
        if (v && dg_json_int(dg_json_get(v, "update")) <= keep)
            dg_buffer_add(&out, in.data + i, n + 1);
        dg_json_free(v);
        i += n + 1;
    }
    dg_alloc_check(!out.failed, "the log");
    if (out.len != in.len)
        rc = dg_file_write(path, out.data ? out.data : "", out.len, err);
out:
    dg_buffer_deinit(&in);
    dg_buffer_deinit(&out);
    return rc;
}

int dg_trainlog_open(const char *path, int64_t keep_updates, bool bar, struct dg_trainlog **out,
    struct dg_error *err)
{
    *out = NULL;
    if (path && keep_updates >= 0) {
        int rc = cut_log(path, keep_updates, err);
        if (rc)
            return rc;
    }
    struct dg_trainlog *l = dg_alloc(1, sizeof *l, "the log");
    l->path = path ? dg_alloc_string(path) : NULL;
    l->file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (path && l->file < 0) {
        int rc = dg_error_set(err, DG_EIO, "cannot open %s: %s", path, strerror(errno));
        dg_trainlog_close(l);
        return rc;
    }
    l->logged = keep_updates > 0 ? keep_updates : 0;
    dg_progress_init(&l->bar, bar);
    *out = l;
    return 0;
}

void dg_trainlog_close(struct dg_trainlog *l)
{
    if (!l)
        return;
    dg_progress_clear(&l->bar);
    dg_tensorboard_close(l->tensorboard);
    if (l->file >= 0)
        close(l->file);
    free(l->path);
    free(l);
}

/* A log that cannot be written does not end a run: it warns once and tries again at the next
 * line. */
static void append(struct dg_trainlog *l, const struct dg_buffer *line)
{
    int why = l->path ? dg_file_append_whole(l->file, line->data, line->len) : 0;
    if (why && !l->failing)
        dg_trainlog_say(l, "warning: cannot write %s: %s; it will lack lines; training continues",
            l->path, strerror(why));
    l->failing = why != 0;
}

int dg_trainlog_event_take(
    struct dg_trainlog *l, const char *kind, struct dg_json *v, struct dg_error *err)
{
    struct dg_buffer b;
    int rc = 0;
    dg_buffer_init(&b);
    if (dg_json_set_string(v, "kind", kind) || dg_json_set_real(v, "time", dg_clock_wall_s()) ||
        dg_json_write(v, 0, &b)) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a line of the log");
        goto out;
    }
    dg_buffer_adds(&b, "\n");
    dg_alloc_check(!b.failed, "a line of the log");
    append(l, &b);
out:
    dg_buffer_deinit(&b);
    dg_json_free(v);
    return rc;
}

void dg_trainlog_say(struct dg_trainlog *l, const char *format, ...)
{
    va_list ap;
    dg_progress_clear(&l->bar);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
}

void dg_trainlog_tensorboard_take(struct dg_trainlog *l, struct dg_tensorboard *t)
{
    dg_tensorboard_close(l->tensorboard);
    l->tensorboard = t;
}

/* Event files only copy the log: after a failed write it warns and closes the event file. */
static void add_values(
    struct dg_trainlog *l, int64_t update, const struct dg_tensorboard_value *values, size_t n)
{
    struct dg_error failure = {0};
    if (!l->tensorboard || !dg_tensorboard_add(l->tensorboard, update, values, n, &failure))
        return;
    dg_trainlog_say(l, "warning: %s; no further events; training continues", failure.message);
    dg_trainlog_tensorboard_take(l, NULL);
}

static double per(double n, double seconds)
{
    return seconds > 0 ? n / seconds : 0;
}

static double perplexity(double nll)
{
    return exp(nll < 700 ? nll : 700);
}

int dg_trainlog_train(
    struct dg_trainlog *l, const struct dg_trainlog_train *t, struct dg_error *err)
{
    struct dg_json *v = dg_json_new_object();
    double tokens = (double)(t->source_tokens + t->target_tokens);
    dg_json_set_int(v, "update", t->update);
    dg_json_set_real(v, "epoch", t->epoch);
    dg_json_set_real(v, "loss", t->loss);
    dg_json_set_real(v, "nll", t->nll);
    dg_json_set_real(v, "ppl", perplexity(t->nll));
    if (t->guided > 0)
        dg_json_set_real(v, "alignment_loss", t->guided);
    dg_json_set_real(v, "lr", t->lr);
    dg_json_set_real(v, "grad_norm", t->grad_norm);
    dg_json_set_int(v, "source_tokens", (int64_t)t->source_tokens);
    dg_json_set_int(v, "target_tokens", (int64_t)t->target_tokens);
    dg_json_set_real(v, "seconds", t->seconds);
    dg_json_set_real(v, "tokens_per_s", per(tokens, t->seconds));
    dg_json_set_real(v, "tokens_per_cpu_s", per(tokens, t->cpu_seconds));
    dg_json_set_int(v, "rss_bytes", (int64_t)t->rss_bytes);
    if (!l->bar.on) {
        const double made = (double)(t->update - l->logged),
                     left = (double)(t->updates - t->update);
        char line[DG_PROGRESS_LINE];
        dg_progress_training_line(
            &(struct dg_progress_training){t->update, t->updates, t->loss, perplexity(t->nll),
                per(tokens, t->seconds), made > 0 ? t->seconds / made * left : NAN, t->epoch},
            PLAIN_COLUMNS, line);
        dg_trainlog_say(l, "%s", line);
    }
    l->logged = t->update;
    const struct dg_tensorboard_value values[] = {{"train/loss", t->loss},
        {"train/perplexity", perplexity(t->nll)}, {"train/learning_rate", t->lr},
        {"train/gradient_norm", t->grad_norm},
        {"train/tokens_per_second", per(tokens, t->seconds)}};
    add_values(l, t->update, values, sizeof values / sizeof *values);
    return dg_trainlog_event_take(l, "train", v, err);
}

int dg_trainlog_valid(
    struct dg_trainlog *l, const struct dg_trainlog_valid *t, struct dg_error *err)
{
    struct dg_json *v = dg_json_new_object();
    char scores[96] = "";
    dg_json_set_int(v, "update", t->update);
    dg_json_set_real(v, "loss", t->loss);
    dg_json_set_real(v, "nll", t->nll);
    dg_json_set_real(v, "ppl", perplexity(t->nll));
    if (!isnan(t->bleu)) {
        dg_json_set_real(v, "bleu", t->bleu);
        dg_json_set_string(v, "bleu_signature", t->bleu_signature ? t->bleu_signature : "");
        snprintf(scores, sizeof scores, "  BLEU %.2f", t->bleu);
    }
    if (!isnan(t->chrf)) {
        size_t n = strlen(scores);
        dg_json_set_real(v, "chrf", t->chrf);
        snprintf(scores + n, sizeof scores - n, "  chrF %.2f", t->chrf);
    }
    dg_json_set_real(v, "seconds", t->seconds);
    dg_trainlog_say(l, "validation at %lld: loss %.4f  ppl %.2f%s  (%.1f s)", (long long)t->update,
        t->loss, perplexity(t->nll), scores, t->seconds);
    struct dg_tensorboard_value values[4] = {
        {"dev/loss", t->loss}, {"dev/perplexity", perplexity(t->nll)}};
    size_t n = 2;
    if (!isnan(t->bleu))
        values[n++] = (struct dg_tensorboard_value){"dev/bleu", t->bleu};
    if (!isnan(t->chrf))
        values[n++] = (struct dg_tensorboard_value){"dev/chrf", t->chrf};
    add_values(l, t->update, values, n);
    return dg_trainlog_event_take(l, "valid", v, err);
}

int dg_trainlog_sample(struct dg_trainlog *l, int64_t update, const char *source,
    const char *reference, const char *translation, struct dg_error *err)
{
    struct dg_json *v = dg_json_new_object();
    dg_json_set_int(v, "update", update);
    dg_json_set_string(v, "source", source);
    dg_json_set_string(v, "reference", reference);
    dg_json_set_string(v, "translation", translation);
    dg_trainlog_say(l, "  source       %s\n  reference    %s\n  translation  %s", source, reference,
        translation);
    return dg_trainlog_event_take(l, "sample", v, err);
}

/* Weighted average of old and x, with `weight` for x; x if there is no old value. */
static double blend(double old, double x, double weight)
{
    return old > 0 ? (1 - weight) * old + weight * x : x;
}

void dg_trainlog_tick(struct dg_trainlog *l, int64_t update, int64_t updates, double loss,
    double nll, uint64_t tokens)
{
    if (!l->bar.on)
        return;
    uint64_t now = dg_clock_ns();
    double seconds = l->tick_ns ? (double)(now - l->tick_ns) * 1e-9 : 0;
    /* Rates decay with time, not per update, so that each update counts by how long it took. */
    if (seconds > 0) {
        double weight = 1 - exp(-seconds / RATE_SECONDS);
        l->updates_per_s = blend(l->updates_per_s, 1 / seconds, weight);
        l->tokens_per_s = blend(l->tokens_per_s, (double)tokens / seconds, weight);
    }
    l->loss = blend(l->loss, loss, 0.05);
    l->nll = blend(l->nll, nll, 0.05);
    l->tick_ns = now;
    if (!dg_progress_due(&l->bar))
        return;
    char line[DG_PROGRESS_LINE];
    const struct dg_progress_training t = {update, updates, l->loss, perplexity(l->nll),
        l->tokens_per_s, per((double)(updates - update), l->updates_per_s), 0};
    dg_progress_training_line(&t, dg_progress_columns(), line);
    dg_progress_draw(&l->bar, line);
}
