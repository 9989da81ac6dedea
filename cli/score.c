/* dragoman score: total and per-token log-probabilities of given translations. */
#include "base/alloc.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/decode_options.h"
#include "cli/json_line.h"
#include "cli/lines.h"

#include <stdio.h>
#include <stdlib.h>

#define CHUNK 1024

struct run {
    struct dg_decode_options o;
    struct dragoman_model *model;
    char *paths[2];
    struct dg_lines *files[2];
    uint64_t n_lines;
};

static const struct dg_field rows[] = {
    {"source", DG_FIELD_STRING, DG_FIELD_AT(struct run, paths[0]), .flags = DG_FIELD_REQUIRED,
        .argument = "FILE", .help = "file of source sentences, one per line"},
    {"target", DG_FIELD_STRING, DG_FIELD_AT(struct run, paths[1]), .flags = DG_FIELD_REQUIRED,
        .argument = "FILE", .help = "file of their translations, line by line"},
};

/* Lines read: texts[f][n] point into bytes[f]. */
struct chunk {
    struct dg_buffer bytes[2];
    struct dragoman_text texts[2][CHUNK];
    size_t n;
};

static int write_score(const struct run *r, const struct dragoman_result *s, struct dg_error *err)
{
    const size_t n = dragoman_result_tokens(s);
    float logprob = 0;
    if (!r->o.json) {
        printf("%.17g\t", dragoman_result_score(s, 0));
        for (size_t i = 0; i < n; i++) {
            const char *token = dragoman_result_token(s, i, &logprob);
            printf("%s%s:%.9g", i ? " " : "", token, (double)logprob);
        }
        putchar('\n');
        return 0;
    }
    struct dg_json *o = dg_json_new_object(), *tokens = dg_json_new_array();
    dg_json_set_real(o, "score", dragoman_result_score(s, 0));
    for (size_t i = 0; i < n; i++) {
        struct dg_json *t = dg_json_new_object();
        dg_json_set_string(t, "token", dragoman_result_token(s, i, &logprob));
        dg_json_set_real(t, "logprob", (double)logprob);
        dg_json_append_take(tokens, t);
    }
    dg_json_set_take(o, "tokens", tokens);
    return dg_json_line_write(o, true, err);
}

/* Add a line of each file to the chunk. *end: both files have ended. */
static int read_pair(struct run *r, struct chunk *c, bool *end, struct dg_error *err)
{
    const char *line[2];
    size_t n[2];
    for (int f = 0; f < 2; f++) {
        int rc = dg_lines_next(r->files[f], true, &line[f], &n[f], err);
        if (rc)
            return rc;
    }
    *end = !line[0] && !line[1];
    if (*end)
        return DG_OK;
    if (!line[0] || !line[1])
        return dg_error_set(err, DG_EINVAL, "%s ends at line %llu, %s goes on",
            r->paths[line[0] ? 1 : 0], (unsigned long long)(r->n_lines + c->n),
            r->paths[line[0] ? 0 : 1]);
    for (int f = 0; f < 2; f++) {
        dg_buffer_add(&c->bytes[f], line[f], n[f]);
        c->texts[f][c->n].size = n[f];
    }
    c->n++;
    return DG_OK;
}

static int read_chunk(struct run *r, struct chunk *c, struct dg_error *err)
{
    bool end = false;
    int rc = DG_OK;
    c->n = 0;
    for (int f = 0; f < 2; f++)
        dg_buffer_reset(&c->bytes[f]);
    while (c->n < CHUNK && !end && !rc)
        rc = read_pair(r, c, &end, err);
    for (int f = 0; f < 2; f++) {
        size_t at = 0; /* from here on, the buffer does not move */
        for (size_t i = 0; i < c->n; at += c->texts[f][i++].size)
            c->texts[f][i].data = c->bytes[f].data ? c->bytes[f].data + at : "";
        if (!rc && c->bytes[f].failed)
            rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu lines", c->n);
    }
    return rc;
}

static int score_chunk(
    struct run *r, const struct chunk *c, const struct dragoman_options *o, struct dg_error *err)
{
    struct dragoman_results *results = NULL;
    struct dragoman_error error;
    int rc = DG_OK;
    if (dragoman_score(r->model, c->texts[0], c->texts[1], c->n, o, &results, &error)) {
        rc = dg_decode_options_error(&error, err);
        if (error.index >= 0)
            dg_error_prefix(err, "line %zu", (size_t)r->n_lines + (size_t)error.index + 1);
    }
    for (size_t i = 0; i < c->n && !rc; i++)
        rc = write_score(r, dragoman_results_at(results, i), err);
    dragoman_results_free(results);
    return rc ? rc : dg_command_flush(err);
}

static int score_lines(struct run *r, struct dg_error *err)
{
    struct chunk *c = dg_alloc(1, sizeof *c, "lines");
    struct dragoman_options o;
    int rc;
    dg_decode_options_public(&r->o, &o);
    do {
        rc = read_chunk(r, c, err);
        if (!rc)
            rc = score_chunk(r, c, &o, err);
        r->n_lines += c->n;
    } while (!rc && c->n == CHUNK);
    for (int f = 0; f < 2; f++)
        dg_buffer_deinit(&c->bytes[f]);
    free(c);
    return rc;
}

int dg_cli_score(int argc, char **argv)
{
    struct run r = {0};
    struct dg_error err = {0};
    dg_decode_options_init(&r.o);
    const struct dg_fields groups[] = {{rows, DG_FIELD_COUNT(rows), &r, NULL, NULL},
        dg_decode_options_model(&r.o), dg_decode_options_tokens(&r.o),
        dg_decode_options_workers(&r.o)};
    const struct dg_command command = {.name = "dragoman score",
        .usage = "usage: dragoman score --source FILE --target FILE [options]\n\n"
                 "Prints the log-probability of each translation, and of its tokens.\n",
        .after = "Plain output has one line per pair: total log-probability, a tab, then "
                 "token:log-probability for\n"
                 "each token, </s> last.\n",
        .groups = groups,
        .n_groups = DG_FIELD_COUNT(groups)};
    int status = dg_command_read(&command, argc, argv, NULL);
    if (status >= 0)
        return status;
    if (dg_decode_options_check(&r.o, &err))
        return dg_command_refuse("dragoman score", "%s", err.message);
    int rc = dg_lines_open(&r.paths[0], 1, &r.files[0], &err);
    if (!rc)
        rc = dg_lines_open(&r.paths[1], 1, &r.files[1], &err);
    if (!rc)
        rc = dg_decode_options_open(&r.o, &r.model, &err);
    if (!rc)
        rc = score_lines(&r, &err);
    dragoman_close(r.model);
    dg_lines_close(r.files[0]);
    dg_lines_close(r.files[1]);
    return rc ? dg_cli_fail("score", &err) : 0;
}
