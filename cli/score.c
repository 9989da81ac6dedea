/* dragoman score: total and per-token log-probabilities of given translations. */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/decode_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 1024

struct run {
    struct dg_decode_options o;
    struct dg_session session;
    const char *paths[2];
    FILE *files[2];
    char *lines[2];
    size_t caps[2];
    uint64_t n_lines;
};

static const struct dg_field rows[] = {
    {"source", DG_FIELD_STRING, DG_FIELD_AT(struct run, paths[0]), .flags = DG_FIELD_REQUIRED,
        .argument = "FILE", .help = "source sentences, one a line"},
    {"target", DG_FIELD_STRING, DG_FIELD_AT(struct run, paths[1]), .flags = DG_FIELD_REQUIRED,
        .argument = "FILE", .help = "their translations, line by line"},
};

static int write_score(const struct run *r, struct dg_job *job, struct dg_error *err)
{
    struct dg_scored s;
    int rc = dg_job_finish_score(job, &s, err);
    if (rc)
        return rc;
    if (!r->o.json) {
        printf("%.17g\t", s.total);
        for (size_t i = 0; i < s.n; i++)
            printf("%s%s:%.9g", i ? " " : "", s.tokens[i], (double)s.logprob[i]);
        putchar('\n');
        return 0;
    }
    struct dg_buffer line;
    dg_buffer_init(&line);
    struct dg_json *o = dg_json_new_object(), *tokens = dg_json_new_array();
    dg_json_set_real(o, "score", s.total);
    for (size_t i = 0; i < s.n; i++) {
        struct dg_json *t = dg_json_new_object();
        dg_json_set_string(t, "token", s.tokens[i]);
        dg_json_set_real(t, "logprob", (double)s.logprob[i]);
        dg_json_append_take(tokens, t);
    }
    dg_json_set_take(o, "tokens", tokens);
    rc = dg_json_write_exact(o, 0, &line);
    dg_json_free(o);
    if (rc || line.failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a line of JSON");
    else
        printf("%s\n", line.data);
    dg_buffer_deinit(&line);
    return rc;
}

/* The next line of file f without its end; *n is -1 at the end of the file. */
static int next_line(struct run *r, int f, ssize_t *n, struct dg_error *err)
{
    errno = 0;
    *n = getline(&r->lines[f], &r->caps[f], r->files[f]);
    if (*n < 0 && !feof(r->files[f]))
        return dg_error_set(err, DG_EIO, "%s cannot be read: %s", r->paths[f], strerror(errno));
    if (*n > 0 && r->lines[f][*n - 1] == '\n')
        (*n)--;
    return 0;
}

static int read_chunk(struct run *r, struct dg_job **jobs, size_t *n, struct dg_error *err)
{
    while (*n < CHUNK) {
        ssize_t a, b;
        int rc = next_line(r, 0, &a, err);
        if (!rc)
            rc = next_line(r, 1, &b, err);
        if (rc)
            return rc;
        if (a < 0 && b < 0)
            return 0;
        if (a < 0 || b < 0)
            return dg_error_set(err, DG_EINVAL, "%s ends at line %llu, %s goes on",
                r->paths[a < 0 ? 0 : 1], (unsigned long long)(r->n_lines + *n),
                r->paths[a < 0 ? 1 : 0]);
        const struct dg_text_pair pair = {r->lines[0], r->lines[1], (size_t)a, (size_t)b};
        rc = dg_job_encode_score(r->session.translator, &pair, &r->o.translate, &jobs[*n], err);
        if (rc) {
            dg_error_prefix(err, "line %llu", (unsigned long long)(r->n_lines + *n + 1));
            return rc;
        }
        (*n)++;
    }
    return 0;
}

static int score_lines(struct run *r, struct dg_error *err)
{
    struct dg_job *jobs[CHUNK];
    size_t n;
    int rc;
    do {
        n = 0;
        rc = read_chunk(r, jobs, &n, err);
        if (!rc)
            rc = dg_runner_run(r->session.runner, jobs, n, NULL, NULL, err);
        for (size_t i = 0; i < n; i++) {
            if (!rc)
                rc = write_score(r, jobs[i], err);
            dg_job_free(jobs[i]);
        }
        if (!rc)
            rc = dg_cli_flush(err);
        r->n_lines += n;
    } while (!rc && n == CHUNK);
    return rc;
}

static int open_files(struct run *r, struct dg_error *err)
{
    for (int f = 0; f < 2; f++) {
        r->files[f] = fopen(r->paths[f], "r");
        if (!r->files[f])
            return dg_error_set(err, DG_EIO, "%s: %s", r->paths[f], strerror(errno));
    }
    return 0;
}

int dg_cli_score(int argc, char **argv)
{
    struct run r = {0};
    struct dg_error err = {0};
    dg_decode_options_init(&r.o);
    const struct dg_fields groups[] = {{rows, DG_FIELD_COUNT(rows), &r, NULL, NULL},
        dg_decode_options_model(&r.o), dg_decode_options_workers(&r.o)};
    const struct dg_command command = {.name = "dragoman score",
        .usage = "usage: dragoman score --source FILE --target FILE [options]\n",
        .after = "Plain output, a line for each pair: total log-probability, a tab, then "
                 "token:log-probability\nwith </s> last.\n",
        .groups = groups,
        .n_groups = DG_FIELD_COUNT(groups)};
    int status = dg_command_read(&command, argc, argv, NULL);
    if (status >= 0)
        return status;
    if (dg_decode_options_check(&r.o, &err))
        return dg_command_refuse("dragoman score", "%s", err.message);
    int rc = open_files(&r, &err);
    if (!rc)
        rc = dg_session_open(&r.session, &r.o, &err);
    if (!rc)
        rc = score_lines(&r, &err);
    dg_session_close(&r.session);
    for (int f = 0; f < 2; f++) {
        if (r.files[f])
            fclose(r.files[f]);
        free(r.lines[f]);
    }
    return rc ? dg_cli_fail("score", &err) : 0;
}
