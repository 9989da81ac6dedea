/* dragoman translate: translates lines, in order. */
#include "base/alloc.h"
#include "base/clock.h"
#include "cli/answers.h"
#include "cli/cli.h"
#include "cli/decode_options.h"
#include "cli/document.h"
#include "cli/lines.h"
#include "documents/extract.h"
#include "store/pair_list.h"
#include "store/pairs_file.h"
#include "translate/search_fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 1024 /* lines in flight: enough to keep every engine's batch full */
struct run {
    struct dg_decode_options o;
    struct dragoman_model *model;
    /* o as the library's struct */
    struct dragoman_options options;
    struct dragoman_glossary terms;
    struct dg_lines *input;
    const char *output;   /* a document's file; NULL: stdout */
    const char *glossary; /* a file; NULL: none */
    bool progress, steps;
    uint64_t started_ns, lines;
};

#define AT(member) DG_FIELD_AT(struct dg_translate_options, member)

static const struct dg_field rows[] = {
    {"format", DG_FIELD_WORD, AT(format), DG_FORMAT_TEXT, DG_FORMAT_TEXT, .words = dg_format_names,
        .argument = "FORMAT",
        .help = "text (default): each line is one text; otherwise the input is one document: "
                "wrapped (the lines of a paragraph are one text), srt (subtitles, also "
                "WebVTT), markdown, html or xml"},
    {"target_prefix", DG_FIELD_STRING, AT(prefix), .old = "prefix", .argument = "TEXT",
        .help = "text that every translation starts with; its last word may continue unless "
                "white space follows it"},
    {"alignments", DG_FIELD_BOOL, AT(alignments),
        .help = "with --json: word alignments as [source, target] spans in code points (with "
                "--tokens: in tokens)"},
    {"rerank", DG_FIELD_BOOL, AT(rerank),
        .help =
            "score each translation of the beam (default here: 8) in the opposite direction and "
            "choose the best; 4 to 5 times slower; needs a model of both directions"},
    {"keep_loops", DG_FIELD_BOOL, AT(keep_loops),
        .help = "keep translations that loop, are empty or have other numbers (default: decode "
                "such a sentence again; with --tokens they are kept)"},
};

static const struct dg_field run_rows[] = {
    {"steps", DG_FIELD_BOOL, DG_FIELD_AT(struct run, steps),
        .help = "with --json: number of decoding steps, and their limit"},
    {"glossary", DG_FIELD_STRING, DG_FIELD_AT(struct run, glossary), .argument = "FILE",
        .help = "terms to enforce where their source is in the text: lines of source, tab, "
                "target (.tsv), a table (.csv) or a TMX file (.tmx)"},
    {"output", DG_FIELD_STRING, DG_FIELD_AT(struct run, output), .argument = "FILE",
        .help = "-o FILE: translate one document and write it to FILE (-: standard output), in "
                "the same kind, which its name's extension gives (.docx, .odt, .html, .md, .srt, "
                ".po, .json and more)"},
};

static int show_progress(void *arg, size_t finished, size_t n)
{
    const struct run *r = arg;
    (void)n;
    const double s = (double)(dg_clock_ns() - r->started_ns) / 1e9;
    const double share = dg_lines_share(r->input);
    const uint64_t lines = r->lines + finished;
    char percent[16] = "";
    /* The share includes lines read but not translated yet in this chunk: close enough. */
    if (share >= 0)
        snprintf(percent, sizeof percent, " (%.0f %%)", 100 * share);
    fprintf(stderr, "\r%llu lines%s, %.1f lines/s ", (unsigned long long)lines, percent,
        (double)lines / (s + 1e-9));
    return 0;
}

static void write_text(const struct dragoman_result *a)
{
    size_t n;
    const char *text = dragoman_result_text(a, 0, &n);
    fwrite(text, 1, n, stdout);
}

/* Write the answer for one line. */
static int write_answer(
    const struct run *r, const struct dragoman_result *a, uint64_t line, struct dg_error *err)
{
    const struct dg_answers_form form = {.lines = r->o.translate.format == DG_FORMAT_TEXT,
        .tokens = r->o.translate.tokens,
        .alignments = r->o.translate.alignments,
        .steps = r->steps};
    if (r->o.json)
        return dg_answers_json(a, &form, err);
    if (r->o.translate.search.n_best > 1) {
        dg_answers_list(a, &form, line);
        return 0;
    }
    write_text(a);
    putchar('\n');
    return 0;
}

/* Lines read: texts[n] point into bytes. */
struct chunk {
    struct dg_buffer bytes;
    struct dragoman_text texts[CHUNK];
    size_t n;
};

/* Read up to CHUNK lines. Waits only for the first, so that a typed line is answered before the
 * next one is typed. *more: there may be further lines. */
static int read_chunk(struct run *r, struct chunk *c, bool *more, struct dg_error *err)
{
    int rc = 0;
    c->n = 0;
    dg_buffer_reset(&c->bytes);
    while (c->n < CHUNK) {
        const char *line;
        size_t len;
        rc = dg_lines_next(r->input, c->n == 0, &line, &len, err);
        *more = rc == DG_EAGAIN || (!rc && line);
        if (rc == DG_EAGAIN || (!rc && !line))
            break;
        if (rc)
            return rc;
        dg_buffer_add(&c->bytes, line, len);
        c->texts[c->n++].size = len;
    }
    if (c->bytes.failed)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu lines", c->n);
    size_t at = 0; /* from here on, the buffer does not move */
    for (size_t i = 0; i < c->n; at += c->texts[i++].size)
        c->texts[i].data = c->bytes.data ? c->bytes.data + at : "";
    return DG_OK;
}

/* Translate texts[n] of the input and write the answers. */
static int translate_texts(
    struct run *r, const struct dragoman_text *texts, size_t n, struct dg_error *err)
{
    struct dragoman_results *results = NULL;
    struct dragoman_error error;
    int rc = DG_OK;
    if (dragoman_translate(r->model, texts, n, &r->options, &results, &error)) {
        rc = dg_decode_options_error(&error, err);
        if (error.index >= 0 && r->input)
            dg_error_prefix(err, "line %zu", (size_t)r->lines + (size_t)error.index + 1);
    }
    for (size_t i = 0; i < n && !rc; i++)
        rc = write_answer(r, dragoman_results_at(results, i), r->lines + i, err);
    dragoman_results_free(results);
    return rc ? rc : dg_command_flush(err);
}

static int translate_lines(struct run *r, struct dg_error *err)
{
    struct chunk *c = dg_alloc(1, sizeof *c, "lines");
    bool more = false;
    int rc = 0;
    do {
        rc = read_chunk(r, c, &more, err);
        if (!rc)
            rc = translate_texts(r, c->texts, c->n, err);
        r->lines += c->n;
    } while (!rc && more);
    if (r->progress && r->lines)
        fprintf(stderr, "\n");
    dg_buffer_deinit(&c->bytes);
    free(c);
    return rc;
}

/* Translate all of a file as one document; the answer is written without a line end of ours. */
static int translate_document(struct run *r, const char *text, size_t n, struct dg_error *err)
{
    const struct dragoman_text whole = {text, n};
    struct dragoman_results *results = NULL;
    struct dragoman_error error;
    if (dragoman_translate(r->model, &whole, 1, &r->options, &results, &error))
        return dg_decode_options_error(&error, err);
    int rc = r->o.json ? write_answer(r, dragoman_results_at(results, 0), 0, err) : DG_OK;
    if (!r->o.json)
        write_text(dragoman_results_at(results, 0));
    dragoman_results_free(results);
    return rc;
}

static int read_all(const char *path, struct dg_buffer *text, struct dg_error *err)
{
    const bool in = strcmp(path, "-") == 0;
    FILE *f = in ? stdin : fopen(path, "re");
    char chunk[65536];
    size_t n;
    if (!f)
        return dg_error_set(err, DG_EIO, "%s: %s", path, strerror(errno));
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        dg_buffer_add(text, chunk, n);
    int rc = ferror(f) ? dg_error_set(err, DG_EIO, "%s cannot be read: %s",
                             in ? "standard input" : path, strerror(errno))
                       : 0;
    if (!in)
        fclose(f);
    return text->failed ? dg_error_set(err, DG_ENOMEM, "no memory for the document") : rc;
}

static int translate_documents(struct run *r, char **paths, int n, struct dg_error *err)
{
    struct dg_buffer text;
    int rc = 0;
    dg_buffer_init(&text);
    for (int i = 0; i < n && !rc; i++) {
        dg_buffer_reset(&text);
        rc = read_all(paths[i], &text, err);
        if (!rc)
            rc = translate_document(r, text.data ? text.data : "", text.len, err);
        if (!rc)
            rc = dg_command_flush(err);
    }
    dg_buffer_deinit(&text);
    return rc;
}

/* Read the file's entries for the languages of this run. */
static int open_glossary(struct run *r, struct dg_error *err)
{
    struct dg_translate_options *o = &r->o.translate;
    struct dg_pair_list pairs;
    if (!r->glossary)
        return 0;
    dg_pair_list_init(&pairs);
    int rc = dg_pairs_file_read(r->glossary, o->source, o->target, dg_pair_list_add, &pairs, err);
    if (!rc)
        rc = dg_pair_list_glossary(&pairs, o->source, o->target, true, &o->glossary, err);
    if (!rc && !o->glossary)
        rc = dg_error_set(
            err, DG_EINVAL, "%s has no entries from %s to %s", r->glossary, o->source, o->target);
    dg_pair_list_deinit(&pairs);
    return rc;
}

/* Refuse packed files as lines, and a document's translation under the name of another kind. */
static int check_files(const char *output, char **files, int n, struct dg_error *err)
{
    for (int i = 0; !output && i < n; i++)
        if (dg_extract_packed(files[i]))
            return dg_error_set(
                err, DG_EINVAL, "%s is not plain text: -o FILE translates it", files[i]);
    if (output && !dg_extract_may_name(files[0], output))
        return dg_error_set(err, DG_EINVAL, "-o %s: the translation of %s is a %s file, too",
            output, files[0], dg_extract_suffix(files[0]));
    return output ? dg_document_check_place(output, err) : DG_OK;
}

/* Refuse options that plain output has no place for, or that mean nothing for tokens. */
static int check(
    struct dg_decode_options *o, const char *output, char **files, int n, struct dg_error *err)
{
    if (output && n != 1)
        return dg_error_set(err, DG_EINVAL, "-o takes one document, not %d", n);
    if (output && (o->translate.format != DG_FORMAT_TEXT || o->translate.tokens || o->json ||
                      o->translate.search.n_best > 1 || o->translate.prefix))
        return dg_error_set(err, DG_EINVAL,
            "-o takes none of --format, --tokens, --json, --n-best and --target-prefix");
    bool document = o->translate.format != DG_FORMAT_TEXT;
    if (document && o->translate.tokens)
        return dg_error_set(err, DG_EINVAL, "--tokens takes lines: no --format but text");
    if (document && o->translate.search.n_best > 1 && !o->json)
        return dg_error_set(err, DG_EINVAL, "--n-best of a document needs --json");
    if (o->translate.alignments && !o->json)
        return dg_error_set(err, DG_EINVAL, "--alignments needs --json");
    int rc = check_files(output, files, n, err);
    return rc ? rc : dg_decode_options_check(o, err);
}

int dg_cli_translate(int argc, char **argv)
{
    struct run r = {0};
    struct dg_error err = {0};
    dg_decode_options_init(&r.o);
    struct dg_fields groups[6 + DG_DECODE_SEARCH] = {dg_decode_options_model(&r.o),
        dg_decode_options_tokens(&r.o), dg_decode_options_workers(&r.o),
        {rows, DG_FIELD_COUNT(rows), &r.o.translate, NULL, NULL},
        dg_n_best_fields(&r.o.translate.search),
        {run_rows, DG_FIELD_COUNT(run_rows), &r, NULL, NULL}};
    dg_decode_options_search(&r.o, groups + 6);
    const struct dg_command command = {.name = "dragoman translate",
        .usage = "usage: dragoman translate [options] [FILE...]\n"
                 "       dragoman translate [options] FILE -o FILE\n\n"
                 "Translates the lines of files or standard input to standard output, or one "
                 "document to a file.\n",
        .groups = groups,
        .n_groups = DG_FIELD_COUNT(groups),
        .max_words = -1};
    int n = 0, status = dg_command_read(&command, argc, argv, &n);
    if (status >= 0)
        return status;
    if (r.steps && !r.o.json)
        return dg_command_refuse("dragoman translate", "--steps needs --json");
    if (r.o.translate.prefix && !r.o.translate.prefix[0])
        r.o.translate.prefix = NULL;
    if (r.glossary && (r.o.translate.tokens || r.o.translate.prefix ||
                          r.o.translate.search.sampling.temperature > 0))
        return dg_command_refuse("dragoman translate",
            "--glossary takes none of --tokens, --target-prefix and --sampling");
    if (check(&r.o, r.output, argv + 1, n, &err))
        return dg_command_refuse("dragoman translate", "%s", err.message);
    r.progress = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
    r.started_ns = dg_clock_ns();
    static char standard_input[] = "-", *only[] = {standard_input};
    int rc = dg_lines_open(argv + 1, (size_t)n, &r.input, &err);
    if (!rc)
        rc = dg_decode_options_open(&r.o, &r.model, &err);
    if (!rc)
        rc = open_glossary(&r, &err);
    dg_decode_options_public(&r.o, &r.options);
    r.terms.terms = r.o.translate.glossary;
    r.options.glossary = r.terms.terms ? &r.terms : NULL;
    r.options.progress =
        r.progress && r.o.translate.format == DG_FORMAT_TEXT ? show_progress : NULL;
    r.options.progress_arg = &r;
    if (!rc)
        rc = r.output ? dg_translate_document(
                            r.model, &r.o.translate, argv[1], r.output, isatty(STDERR_FILENO), &err)
             : r.o.translate.format == DG_FORMAT_TEXT
                 ? translate_lines(&r, &err)
                 : translate_documents(&r, n ? argv + 1 : only, n ? n : 1, &err);
    dg_glossary_unref(r.o.translate.glossary);
    dragoman_close(r.model);
    dg_lines_close(r.input);
    return rc ? dg_cli_fail("translate", &err) : 0;
}
