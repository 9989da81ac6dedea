/* dragoman translate: lines in, lines out, order kept. */
#include "base/clock.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/decode_options.h"
#include "translate/search_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 1024 /* lines in flight: enough to keep every engine's batch full */

struct run {
    struct dg_decode_options o;
    struct dg_session session;
    bool progress;
    uint64_t started_ns, lines;
};

#define AT(member) DG_FIELD_AT(struct dg_translate_options, member)

static const struct dg_field rows[] = {
    {"format", DG_FIELD_WORD, AT(format), DG_FORMAT_TEXT, DG_FORMAT_TEXT, .words = dg_format_names,
        .argument = "FORMAT",
        .help = "text (default): each line by itself; or the whole input is a document: wrapped "
                "(lines of a paragraph are one text), srt (subtitles, WebVTT too) or markdown"},
    {"target_prefix", DG_FIELD_STRING, AT(prefix), .old = "prefix", .argument = "TEXT",
        .help = "every answer begins with it; its last word may go on, unless white space follows"},
    {"alignments", DG_FIELD_BOOL, AT(alignments),
        .help = "with --json: [source, target] spans of words in code points (with --tokens: of "
                "tokens)"},
    {"keep_loops", DG_FIELD_BOOL, AT(keep_loops),
        .help = "leave answers that repeat themselves over and over, or are empty, as they are "
                "(default: such a sentence is decoded again, kept from that, and flagged; with "
                "--tokens they are left)"},
};

static void show_progress(void *arg, size_t finished, size_t n)
{
    const struct run *r = arg;
    (void)n;
    double s = (double)(dg_clock_ns() - r->started_ns) / 1e9;
    uint64_t lines = r->lines + finished;
    if (r->progress)
        fprintf(stderr, "\r%llu lines, %.1f lines/s ", (unsigned long long)lines,
            (double)lines / (s + 1e-9));
}

static struct dg_json *flags_json(unsigned flags)
{
    struct dg_json *list = dg_json_new_array();
    for (unsigned bit = 1; bit; bit <<= 1)
        if (flags & bit)
            dg_json_append_take(
                list, dg_json_new_string(dg_flag_name(bit), strlen(dg_flag_name(bit))));
    return list;
}

static struct dg_json *answer_json(const struct dg_answer *a, bool pieces)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_take(o, pieces ? "pieces" : "text", dg_json_new_string(a->text, a->len));
    dg_json_set_real(o, "score", a->score);
    return o;
}

/* Words as [[from, to], [from, to]] in code points; pieces as [source, target] positions. */
static struct dg_json *alignment_json(const struct dg_answers *a, bool pieces)
{
    struct dg_json *list = dg_json_new_array();
    for (size_t i = 0; i < a->n_alignments; i++) {
        const struct dg_answer_pair *p = &a->alignments[i];
        struct dg_json *pair = dg_json_new_array();
        const size_t ends[2][2] = {
            {p->source_begin, p->source_end}, {p->target_begin, p->target_end}};
        for (int side = 0; side < 2; side++) {
            struct dg_json *span =
                pieces ? dg_json_new_int((int64_t)ends[side][0]) : dg_json_new_array();
            if (!pieces) {
                dg_json_append_take(span, dg_json_new_int((int64_t)ends[side][0]));
                dg_json_append_take(span, dg_json_new_int((int64_t)ends[side][1]));
            }
            dg_json_append_take(pair, span);
        }
        dg_json_append_take(list, pair);
    }
    return list;
}

static int write_json(const struct run *r, const struct dg_answers *a, struct dg_error *err)
{
    struct dg_buffer line;
    dg_buffer_init(&line);
    struct dg_json *o = answer_json(&a->best[0], r->o.translate.pieces);
    if (a->n_best > 1) {
        struct dg_json *list = dg_json_new_array();
        for (size_t i = 0; i < a->n_best; i++)
            dg_json_append_take(list, answer_json(&a->best[i], r->o.translate.pieces));
        dg_json_set_take(o, "n_best", list);
    }
    if (r->o.translate.alignments)
        dg_json_set_take(o, "alignment", alignment_json(a, r->o.translate.pieces));
    dg_json_set_take(o, "flags", flags_json(a->flags));
    int rc = dg_json_write(o, 0, &line);
    dg_json_free(o);
    if (rc || line.failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a line of JSON");
    else
        printf("%s\n", line.data);
    dg_buffer_deinit(&line);
    return rc;
}

/* One line's answer. Plain n-best lists look as Moses and Marian write them: line ||| text |||
 * score. */
static int write_answer(
    const struct run *r, struct dg_job *job, uint64_t line, struct dg_error *err)
{
    struct dg_answers a;
    int rc = dg_job_finish(job, &a, err);
    if (rc)
        return rc;
    if (r->o.json)
        return write_json(r, &a, err);
    if (r->o.translate.search.n_best <= 1) {
        fwrite(a.best[0].text, 1, a.best[0].len, stdout);
        putchar('\n');
        return 0;
    }
    for (size_t i = 0; i < a.n_best; i++)
        printf("%llu ||| %s ||| %.6f\n", (unsigned long long)line, a.best[i].text, a.best[i].score);
    return 0;
}

/* Read up to CHUNK lines as jobs; *n of them. */
static int read_chunk(struct run *r, struct dg_job **jobs, size_t *n, struct dg_error *err)
{
    char *line = NULL;
    size_t cap = 0;
    int rc = 0;
    ssize_t len;
    while (*n < CHUNK && !rc && (len = getline(&line, &cap, stdin)) >= 0) {
        if (len && line[len - 1] == '\n')
            len--;
        rc = dg_job_plan(r->session.translator, line, (size_t)len, &r->o.translate, &jobs[*n], err);
        if (rc)
            dg_error_prefix(err, "line %llu", (unsigned long long)(r->lines + *n + 1));
        else
            (*n)++;
    }
    if (!rc && ferror(stdin))
        rc = dg_error_set(err, DG_EIO, "standard input cannot be read");
    free(line);
    return rc;
}

static int translate_lines(struct run *r, struct dg_error *err)
{
    struct dg_job *jobs[CHUNK];
    size_t n;
    int rc = 0;
    do {
        n = 0;
        rc = read_chunk(r, jobs, &n, err);
        if (!rc)
            rc = dg_runner_run(r->session.runner, jobs, n, show_progress, r, err);
        for (size_t i = 0; i < n; i++) {
            if (!rc)
                rc = write_answer(r, jobs[i], r->lines + i, err);
            dg_job_free(jobs[i]);
        }
        if (!rc)
            rc = dg_cli_flush(err);
        r->lines += n;
    } while (!rc && n == CHUNK);
    if (r->progress && r->lines)
        fprintf(stderr, "\n");
    return rc;
}

static int read_all(struct dg_buffer *text, struct dg_error *err)
{
    char chunk[65536];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, stdin)) > 0)
        dg_buffer_add(text, chunk, n);
    if (ferror(stdin))
        return dg_error_set(err, DG_EIO, "standard input cannot be read");
    return text->failed ? dg_error_set(err, DG_ENOMEM, "no memory for the document") : 0;
}

/* All of the input is one document; so is the output, to its last byte. */
static int translate_document(struct run *r, struct dg_error *err)
{
    struct dg_buffer text;
    struct dg_job *job = NULL;
    struct dg_answers a;
    dg_buffer_init(&text);
    int rc = read_all(&text, err);
    if (!rc)
        rc = dg_job_plan(r->session.translator, text.data ? text.data : "", text.len,
            &r->o.translate, &job, err);
    if (!rc)
        rc = dg_runner_run(r->session.runner, &job, 1, NULL, NULL, err);
    if (!rc && r->o.json)
        rc = write_answer(r, job, 0, err);
    else if (!rc && !(rc = dg_job_finish(job, &a, err)))
        fwrite(a.best[0].text, 1, a.best[0].len, stdout);
    dg_job_free(job);
    dg_buffer_deinit(&text);
    return rc;
}

/* What an output without JSON has no place for, and pieces no meaning. */
static int check(struct dg_decode_options *o, struct dg_error *err)
{
    bool document = o->translate.format != DG_FORMAT_TEXT;
    if (document && o->translate.pieces)
        return dg_error_set(err, DG_EINVAL, "--tokens takes lines: no --format but text");
    if (document && o->translate.search.n_best > 1 && !o->json)
        return dg_error_set(err, DG_EINVAL, "--n-best of a document needs --json");
    if (o->translate.alignments && !o->json)
        return dg_error_set(err, DG_EINVAL, "--alignments needs --json");
    return dg_decode_options_check(o, err);
}

int dg_cli_translate(int argc, char **argv)
{
    struct run r = {0};
    struct dg_error err = {0};
    dg_decode_options_init(&r.o);
    struct dg_fields groups[4 + DG_DECODE_SEARCH] = {dg_decode_options_model(&r.o),
        dg_decode_options_workers(&r.o), {rows, DG_FIELD_COUNT(rows), &r.o.translate, NULL, NULL},
        dg_n_best_fields(&r.o.translate.search)};
    dg_decode_options_search(&r.o, groups + 4);
    const struct dg_command command = {.name = "dragoman translate",
        .usage = "usage: dragoman translate --model BUNDLE [options] < lines\n",
        .groups = groups,
        .n_groups = DG_FIELD_COUNT(groups)};
    int status = dg_command_read(&command, argc, argv, NULL);
    if (status >= 0)
        return status;
    if (check(&r.o, &err))
        return dg_command_refuse("dragoman translate", "%s", err.message);
    r.progress = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
    r.started_ns = dg_clock_ns();
    int rc = dg_session_open(&r.session, &r.o, &err);
    if (!rc)
        rc = r.o.translate.format == DG_FORMAT_TEXT ? translate_lines(&r, &err)
                                                    : translate_document(&r, &err);
    dg_session_close(&r.session);
    return rc ? dg_cli_fail("translate", &err) : 0;
}
