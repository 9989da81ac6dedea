/* dragoman parse: sentences in, trees out, with a bundle that translates into the sequences of
 * text/tree/tree.h. */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/decode_options.h"
#include "cli/json_line.h"
#include "cli/lines.h"
#include "text/tree/tree.h"
#include "text/tree/treebank_words.h"
#include "text/utf8.h"
#include "translate/search_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 256

/* One sentence in flight. */
struct sentence {
    struct dg_arena arena;
    /* [n_words] */
    const char **words;
    uint32_t n_words;
    /* NULL: the sentence has no words */
    struct dg_job *job;
};

struct parsing {
    struct dg_decode_options o;
    struct dragoman_model *model;
    struct dg_lines *input;
    bool tokenized, sequence;
    uint64_t lines, repaired;
    struct sentence chunk[CHUNK];
    size_t n;
};

#define AT(member) DG_FIELD_AT(struct parsing, member)

static const struct dg_field rows[] = {
    {"tokenized", DG_FIELD_BOOL, AT(tokenized),
        .help = "input words are separated as in a treebank (default: running text, one "
                "sentence per line)"},
    {"sequence", DG_FIELD_BOOL, AT(sequence),
        .help = "print the model's raw output, labelled brackets and XX, instead of a tree"},
};

static int no_memory(struct dg_error *err)
{
    return dg_error_set(err, DG_ENOMEM, "no memory for a sentence");
}

/* Split `text` into the words of s; `out` gets the text with its words separated by spaces. */
static int take_words(const struct parsing *p, struct sentence *s, const char *text, size_t n,
    struct dg_buffer *out, struct dg_error *err)
{
    if (p->tokenized)
        dg_buffer_add(out, text, n);
    else
        dg_treebank_words(text, n, out);
    char *line =
        out->failed ? NULL : dg_arena_strndup(&s->arena, out->data ? out->data : "", out->len);
    s->words = dg_arena_array(&s->arena, out->len / 2 + 1, sizeof *s->words);
    if (!line || !s->words)
        return no_memory(err);
    char *save = NULL;
    for (char *w = strtok_r(line, " \t\r\n", &save); w; w = strtok_r(NULL, " \t\r\n", &save))
        s->words[s->n_words++] = w;
    return 0;
}

/* Make a job from pieces separated by spaces. Such a job skips the other steps of text (loops,
 * protected spans, numbers), which do not suit trees. */
static int plan_pieces(
    struct parsing *p, struct sentence *s, const struct dg_buffer *text, struct dg_error *err)
{
    const struct dg_tokenizer *source = dg_translator_source(p->model->translator);
    struct dg_token *tokens = NULL;
    struct dg_buffer pieces;
    char *nfc = NULL;
    size_t n, count = 0;
    dg_buffer_init(&pieces);
    int rc = dg_utf8_nfc(text->data, text->len, &nfc, &n, err);
    if (!rc)
        rc = dg_tokenizer_encode(source, nfc, n, &tokens, &count, err);
    for (size_t i = 0; i < count && !rc; i++)
        dg_buffer_addf(&pieces, "%s%s", i ? " " : "", dg_tokenizer_piece(source, tokens[i].id));
    if (!rc && pieces.failed)
        rc = no_memory(err);
    if (!rc)
        rc = dg_job_encode(
            p->model->translator, pieces.data, pieces.len, &p->o.translate, &s->job, err);
    free(nfc);
    free(tokens);
    dg_buffer_deinit(&pieces);
    return rc;
}

static int plan(struct parsing *p, const char *text, size_t n, struct dg_error *err)
{
    struct sentence *s = &p->chunk[p->n++];
    struct dg_buffer words;
    *s = (struct sentence){0};
    dg_arena_init(&s->arena, 0);
    dg_buffer_init(&words);
    int rc = dg_utf8_check(text, n, err);
    if (!rc)
        rc = take_words(p, s, text, n, &words, err);
    if (!rc && s->n_words)
        rc = plan_pieces(p, s, &words, err);
    dg_buffer_deinit(&words);
    return rc;
}

/* Get the sequence that the model produced, malloc'd, and its score. */
static int sequence_of(const struct parsing *p, const struct sentence *s, char **sequence,
    double *score, struct dg_error *err)
{
    const struct dg_tokenizer *target = dg_translator_target(p->model->translator);
    struct dg_answers a;
    size_t n = 0, len;
    int rc = dg_job_finish(s->job, &a, err);
    if (rc)
        return rc;
    *score = a.best[0].score;
    int32_t *ids = calloc(a.best[0].len / 2 + 1, sizeof *ids);
    char *text = ids ? strdup(a.best[0].text) : NULL, *save = NULL;
    if (!text)
        rc = no_memory(err);
    for (char *w = text ? strtok_r(text, " ", &save) : NULL; w; w = strtok_r(NULL, " ", &save))
        ids[n++] = dg_tokenizer_id(target, w);
    if (!rc)
        rc = dg_tokenizer_decode(target, ids, n, sequence, &len, NULL, err);
    free(text);
    free(ids);
    return rc;
}

static int print_json(const char *tree, const char *sequence, double score,
    const struct dg_tree_repairs *repairs, struct dg_error *err)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_string(o, "tree", tree);
    dg_json_set_string(o, "sequence", sequence);
    dg_json_set_real(o, "score", score);
    dg_json_set_bool(o, "repaired", dg_tree_was_repaired(repairs));
    return dg_json_line_write(o, true, err);
}

static int print_sentence(struct parsing *p, struct sentence *s, struct dg_error *err)
{
    struct dg_tree tree;
    struct dg_tree_repairs repairs;
    struct dg_buffer text;
    char *sequence = NULL;
    double score = 0;
    dg_buffer_init(&text);
    int rc = s->job ? sequence_of(p, s, &sequence, &score, err) : 0;
    const char *said = sequence ? sequence : "";
    if (!rc)
        rc = dg_tree_restore(said, s->words, s->n_words, &s->arena, &tree, &repairs, err);
    if (!rc) {
        p->repaired += dg_tree_was_repaired(&repairs);
        dg_tree_write(&tree, &text);
        if (text.failed)
            rc = no_memory(err);
        else if (p->o.json)
            rc = print_json(text.data, said, score, &repairs, err);
        else
            puts(p->sequence ? said : text.data);
    }
    free(sequence);
    dg_buffer_deinit(&text);
    return rc;
}

/* Read up to CHUNK lines as sentences; waits only for the first. *more: there may be further lines.
 */
static int read_chunk(struct parsing *p, bool *more, struct dg_error *err)
{
    int rc = 0;
    *more = true;
    while (p->n < CHUNK && !rc) {
        const char *line;
        size_t len;
        rc = dg_lines_next(p->input, p->n == 0, &line, &len, err);
        if (rc == DG_EAGAIN)
            return 0;
        if (!rc && !line) {
            *more = false;
            return 0;
        }
        if (!rc)
            rc = plan(p, line, len, err);
        if (rc)
            dg_error_prefix(err, "line %llu", (unsigned long long)(p->lines + p->n));
    }
    return rc;
}

static int run_chunk(struct parsing *p, struct dg_error *err)
{
    struct dg_job *jobs[CHUNK];
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->chunk[i].job)
            jobs[n++] = p->chunk[i].job;
    int rc = n ? dg_runner_run(p->model->runner, jobs, n, NULL, NULL, err) : 0;
    for (size_t i = 0; i < p->n && !rc; i++)
        rc = print_sentence(p, &p->chunk[i], err);
    return rc ? rc : dg_command_flush(err);
}

static int parse_lines(struct parsing *p, struct dg_error *err)
{
    bool more = true;
    int rc = 0;
    while (more && !rc) {
        rc = read_chunk(p, &more, err);
        if (!rc)
            rc = run_chunk(p, err);
        for (size_t i = 0; i < p->n; i++) {
            dg_job_free(p->chunk[i].job);
            dg_arena_deinit(&p->chunk[i].arena);
        }
        p->lines += p->n;
        p->n = 0;
    }
    if (!rc && p->repaired)
        fprintf(stderr, "dragoman parse: %llu of %llu answers were no trees and were repaired\n",
            (unsigned long long)p->repaired, (unsigned long long)p->lines);
    return rc;
}

/* Check that the model can parse text. */
static int check_model(const struct parsing *p, struct dg_error *err)
{
    const struct dg_bundle *b = dg_translator_bundle(p->model->translator);
    if (!dg_bundle_answers_trees(b))
        return dg_error_set(err, DG_EINVAL,
            "%s is not a parsing model: its manifest lacks \"answers\": \"trees\" (dragoman seal "
            "BUNDLE --set answers=trees adds it)",
            dg_bundle_name(b));
    if (!dg_tokenizer_has_text(dg_translator_source(p->model->translator)))
        return dg_error_set(err, DG_EINVAL, "the bundle has no SentencePiece model");
    return 0;
}

int dg_cli_parse(int argc, char **argv)
{
    static struct parsing p;
    struct dg_error err = {0};
    dg_decode_options_init(&p.o);
    struct dg_fields groups[3 + DG_DECODE_SEARCH] = {dg_decode_options_model(&p.o),
        dg_decode_options_workers(&p.o), {rows, DG_FIELD_COUNT(rows), &p, NULL, NULL}};
    dg_decode_options_search(&p.o, groups + 3);
    const struct dg_command command = {.name = "dragoman parse",
        .usage = "usage: dragoman parse [options] [FILE...]\n\n"
                 "Parses the lines of files or standard input: one sentence per input line, one "
                 "tree per output line.\n",
        .groups = groups,
        .n_groups = DG_FIELD_COUNT(groups),
        .max_words = -1};
    int n = 0, status = dg_command_read(&command, argc, argv, &n);
    if (status >= 0)
        return status;
    if (p.sequence && p.o.json)
        return dg_command_refuse(command.name, "--sequence: --json has it already");
    const bool any_target = !p.o.translate.target;
    if (any_target)
        p.o.translate.target = "parse"; /* among installed models, those to this language */
    if (dg_decode_options_check(&p.o, &err))
        return dg_command_refuse(command.name, "%s", err.message);
    if (any_target)
        p.o.translate.target = NULL; /* the model's, whatever its recipe calls it */
    p.o.translate.tokens = true;
    int rc = dg_lines_open(argv + 1, (size_t)n, &p.input, &err);
    if (!rc)
        rc = dg_decode_options_open(&p.o, &p.model, &err);
    if (!rc)
        rc = check_model(&p, &err);
    if (!rc)
        rc = parse_lines(&p, &err);
    dragoman_close(p.model);
    dg_lines_close(p.input);
    return rc ? dg_cli_fail("parse", &err) : 0;
}
