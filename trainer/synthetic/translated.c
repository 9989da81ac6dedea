#include "trainer/synthetic/translated.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "trainer/data/clean.h"
#include "trainer/data/corpus.h"
#include "trainer/progress.h"
#include "trainer/synthetic/growing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const struct dg_translated_options *o;
    struct dg_translated *counts;
    struct dg_corpus_lines *lines;
    struct dg_growing *files;
    struct dg_bulk *model;
    /* Clean lines of the current slice, and where each begins. */
    struct dg_buffer text;
    struct dg_text_pair pairs[DG_BULK_SLICE];
    size_t n;
    struct dg_progress progress;
    uint64_t start_ns, read_before;
};

/* Lists what determines the files: with another model, text or search they start over. */
static int list_made_of(const struct dg_translated_options *o, const struct dg_bulk *model,
    struct dg_json **out, struct dg_error *err)
{
    struct dg_json *j = *out = dg_json_new_object();
    dg_json_set_string(
        j, "model", dg_bundle_version(dg_translator_bundle(dg_bulk_translator(model))));
    dg_json_set_string(j, "from", o->model.source_lang ? o->model.source_lang : "");
    dg_json_set_string(j, "to", o->model.target_lang ? o->model.target_lang : "");
    dg_json_set_int(j, "beam_size", o->model.beam);
    dg_json_set_real(j, "length_penalty", (double)o->model.alpha);
    dg_json_set_int(j, "skip", (int64_t)o->skip);
    dg_json_set_int(j, "lines", (int64_t)o->lines);
    return dg_growing_add_input(j, "text", o->text, err);
}

static void read_counts(const struct dg_json *state, struct dg_translated *c)
{
    c->read = (uint64_t)dg_json_int(dg_json_get(state, "read"));
    c->kept = (uint64_t)dg_json_int(dg_json_get(state, "kept"));
    c->no_text = (uint64_t)dg_json_int(dg_json_get(state, "no_text"));
    c->failed = (uint64_t)dg_json_int(dg_json_get(state, "failed"));
}

static int save(struct run *r, struct dg_error *err)
{
    struct dg_json *state = dg_json_new_object();
    dg_json_set_int(state, "read", (int64_t)r->counts->read);
    dg_json_set_int(state, "kept", (int64_t)r->counts->kept);
    dg_json_set_int(state, "no_text", (int64_t)r->counts->no_text);
    dg_json_set_int(state, "failed", (int64_t)r->counts->failed);
    return dg_growing_save_take(r->files, state, err);
}

/* Skips the lines to leave out and those that earlier calls have done. */
static int skip_lines(struct run *r, struct dg_error *err)
{
    const uint64_t skip = r->o->skip + r->counts->read;
    struct dg_line line;
    int got = 1;
    for (uint64_t i = 0; i < skip && got > 0; i++)
        got = dg_corpus_lines_next(r->lines, &line, err);
    return got < 0 ? got : 0;
}

/* Reads clean lines into the slice until it is full; *more is false if the text ends first. */
static int read_slice(struct run *r, bool *more, struct dg_error *err)
{
    r->n = 0;
    dg_buffer_reset(&r->text);
    while (r->n < DG_BULK_SLICE) {
        struct dg_line line;
        enum dg_drop why;
        *more = !r->o->lines || r->counts->read < r->o->lines;
        int got = *more ? dg_corpus_lines_next(r->lines, &line, err) : 0;
        if (got <= 0) {
            *more = false;
            if (got < 0)
                return got;
            break;
        }
        r->counts->read++;
        const size_t at = r->text.len;
        int rc = dg_clean_line(line.text, line.len, &r->text, &why, err);
        if (rc)
            return rc;
        if (why != DG_KEEP || line.cut || r->text.len == at) {
            r->text.len = at;
            r->counts->no_text++;
            continue;
        }
        r->pairs[r->n++].n_source = r->text.len - at;
    }
    /* The buffer does not move from here on; it holds one line after another. */
    const char *text = r->text.data;
    for (size_t i = 0; i < r->n; i++) {
        r->pairs[i].source = text;
        text += r->pairs[i].n_source;
    }
    return 0;
}

static void show(struct run *r)
{
    char done[32], left[32], line[160];
    if (!dg_progress_due(&r->progress))
        return;
    const double s = (double)(dg_clock_ns() - r->start_ns) * 1e-9;
    const double rate = (double)(r->counts->read - r->read_before) / s;
    dg_progress_count(r->counts->read, done);
    dg_progress_time(r->o->lines ? (double)(r->o->lines - r->counts->read) / rate : -1.0, left);
    snprintf(line, sizeof line, "translating  %s lines  %.0f lines/s  ETA %s", done, rate, left);
    dg_progress_draw(&r->progress, line);
}

static int take_answer(void *arg, size_t i, const struct dg_answers *a, struct dg_error *err)
{
    static const unsigned bad = DG_FLAG_REPETITION | DG_FLAG_LENGTH_LIMITED;
    struct run *r = arg;
    if (!a->best->len || a->flags & bad) {
        r->counts->failed++;
        return 0;
    }
    int rc = dg_growing_line(r->files, 0, r->pairs[i].source, r->pairs[i].n_source, err);
    if (!rc)
        rc = dg_growing_line(r->files, 1, a->best->text, a->best->len, err);
    r->counts->kept += !rc;
    return rc;
}

static int translate_all(struct run *r, struct dg_error *err)
{
    bool more = true;
    int rc = skip_lines(r, err);
    r->read_before = r->counts->read;
    r->start_ns = dg_clock_ns();
    while (!rc && more) {
        if (r->o->stop && *r->o->stop)
            return dg_error_set(err, DG_ECANCELED,
                "stopped after %" PRIu64 " lines of %s; the same command continues",
                r->counts->read, r->o->text);
        rc = read_slice(r, &more, err);
        if (!rc && r->n)
            rc = dg_bulk_translate(r->model, r->pairs, r->n, take_answer, r, err);
        if (!rc)
            rc = save(r, err);
        show(r);
    }
    dg_progress_clear(&r->progress);
    return rc;
}

int dg_translated_write(
    const struct dg_translated_options *o, struct dg_translated *out, struct dg_error *err)
{
    const char *paths[2] = {o->out_text, o->out_translation};
    const struct dg_json *state = NULL;
    struct run *r = dg_alloc(1, sizeof *r, "a text to translate");
    struct dg_json *about = NULL;
    memset(out, 0, sizeof *out);
    r->o = o;
    r->counts = out;
    dg_buffer_init(&r->text);
    dg_progress_init(&r->progress, !o->quiet);
    int rc = dg_bulk_open(&o->model, 0, &r->model, err);
    if (!rc)
        rc = list_made_of(o, r->model, &about, err);
    if (!rc)
        rc = dg_growing_open(paths, 2, about, &r->files, &state, err);
    if (!rc)
        read_counts(state, out);
    if (!rc && !dg_growing_is_done(r->files)) {
        rc = dg_corpus_lines_open(o->text, &r->lines, err);
        if (!rc)
            rc = translate_all(r, err);
        if (!rc)
            rc = dg_growing_finish(r->files, err);
    }
    dg_json_free(about);
    dg_growing_close(r->files);
    dg_corpus_lines_close(r->lines);
    dg_bulk_close(r->model);
    dg_buffer_deinit(&r->text);
    free(r);
    return rc;
}
