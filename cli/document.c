#include "cli/document.h"

#include "base/file.h"
#include "documents/extract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CHUNK 256 /* texts in flight: enough to keep every engine's batch full */

struct run {
    struct dragoman_model *model;
    const struct dg_translate_options *options;
    const struct dg_extract *extract;
    /* [n] malloc'd bytes */
    struct dg_extract_answer *answers;
    size_t n;
    bool progress;
};

static int plan(struct run *r, size_t i, struct dg_job **job, struct dg_error *err)
{
    struct dg_translate_options o = *r->options;
    struct dg_extract_text text;
    dg_extract_text(r->extract, i, &text);
    o.format = text.format;
    o.markup = text.markup;
    return dg_job_encode(r->model->translator, text.s, text.n, &o, job, err);
}

static int keep(struct run *r, size_t i, struct dg_job *job, struct dg_error *err)
{
    struct dg_answers a;
    int rc = dg_job_finish(job, &a, err);
    if (rc != DG_OK)
        return rc;
    struct dg_buffer copy;
    dg_buffer_init(&copy);
    dg_buffer_add(&copy, a.best[0].text, a.best[0].len);
    r->answers[i].s = dg_buffer_take(&copy, &r->answers[i].n);
    return r->answers[i].s ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a translation");
}

/* Translate texts first .. end - 1. */
static int translate_some(struct run *r, size_t first, size_t end, struct dg_error *err)
{
    struct dg_job *jobs[CHUNK] = {NULL};
    size_t n = 0;
    int rc = DG_OK;
    for (; n < end - first && rc == DG_OK; n++)
        rc = plan(r, first + n, &jobs[n], err);
    if (rc == DG_OK)
        rc = dg_runner_run(r->model->runner, jobs, n, NULL, NULL, err);
    for (size_t i = 0; i < n; i++) {
        if (rc == DG_OK)
            rc = keep(r, first + i, jobs[i], err);
        dg_job_free(jobs[i]);
    }
    return rc;
}

static int translate_all(struct run *r, struct dg_error *err)
{
    int rc = DG_OK;
    for (size_t i = 0; i < r->n && rc == DG_OK; i += CHUNK) {
        rc = translate_some(r, i, r->n - i < CHUNK ? r->n : i + CHUNK, err);
        if (r->progress)
            fprintf(stderr, "\r%zu of %zu texts ", r->n - i < CHUNK ? r->n : i + CHUNK, r->n);
    }
    if (r->progress && r->n)
        fprintf(stderr, "\n");
    return rc;
}

static bool is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0;
}

static int write_file(const struct run *r, const char *path, struct dg_error *err)
{
    struct dg_buffer out;
    dg_buffer_init(&out);
    int rc = dg_extract_write(r->extract, r->answers, &out, err);
    if (rc == DG_OK && is_standard_output(path)) {
        fwrite(out.data ? out.data : "", 1, out.len, stdout);
        rc = dg_command_flush(err);
    } else if (rc == DG_OK) {
        rc = dg_file_write(path, out.data ? out.data : "", out.len, err);
    }
    dg_buffer_deinit(&out);
    return rc;
}

/* Reports the ICU messages that stay untranslated. */
static void report_stays(const struct run *r, const char *in)
{
    struct dg_extract_stays stays;
    dg_extract_stays(r->extract, r->answers, &stays);
    if (stays.n > 0)
        fprintf(stderr,
            "dragoman translate: %s: ICU messages left untranslated: %zu (line %zu: %s)\n", in,
            stays.n, stays.line, stays.why);
}

int dg_document_check_place(const char *out, struct dg_error *err)
{
    struct stat st;
    if (is_standard_output(out))
        return DG_OK;
    if (!out[0] || dg_file_is_folder(out))
        return dg_error_set(err, DG_EINVAL, "-o takes a file, not \"%s\"", out);
    const char *slash = strrchr(out, '/');
    char *folder = slash ? strndup(out, (size_t)(slash + 1 - out)) : NULL;
    int rc = folder && stat(folder, &st) != 0
                 ? dg_error_set(err, DG_EINVAL, "-o %s: there is no folder %s", out, folder)
                 : DG_OK;
    free(folder);
    return rc;
}

int dg_translate_document(struct dragoman_model *model, const struct dg_translate_options *options,
    const char *in, const char *out, bool progress, struct dg_error *err)
{
    struct run r = {.model = model, .options = options, .progress = progress};
    struct dg_extract *extract = NULL;
    struct dg_buffer bytes;
    dg_buffer_init(&bytes);
    int rc = dg_file_read(in, &bytes, err);
    if (rc == DG_OK)
        rc = dg_extract_open(in, bytes.data ? bytes.data : "", bytes.len, options->target,
            &dg_extract_limits_default, &extract, err);
    if (rc == DG_OK) {
        r.extract = extract;
        r.n = dg_extract_count(extract);
        r.answers = calloc(r.n + 1, sizeof *r.answers);
        rc = r.answers ? translate_all(&r, err)
                       : dg_error_set(err, DG_ENOMEM, "no memory for translations");
    }
    if (rc == DG_OK)
        rc = write_file(&r, out, err);
    if (rc == DG_OK)
        report_stays(&r, in);
    if (rc != DG_OK) {
        err->field[0] = '\0'; /* the path replaces the field of a request */
        dg_error_prefix(err, "%s", in);
    }
    for (size_t i = 0; r.answers && i < r.n; i++)
        free((char *)r.answers[i].s);
    free(r.answers);
    dg_extract_close(extract);
    dg_buffer_deinit(&bytes);
    return rc;
}
