#include "server/uploads/run.h"

#include "server/access/gate.h"
#include "server/request/feeder.h"
#include "server/request/request.h"
#include "server/uploads/check.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>

struct dg_upload_run {
    struct dg_upload upload;
    struct dg_buffer file;
    struct dg_extract *extract;
    struct dg_request *request;
    size_t n;
    atomic_size_t n_over;
    void (*over)(void *arg);
    void *arg;
};

static int write_item(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    struct dg_upload_run *run = (struct dg_upload_run *)item->request->extra;
    struct dg_answers answers;
    int rc = dg_item_answers(item, 0, arena, &answers, err);
    if (rc == DG_OK) {
        dg_buffer_add(&item->answer, answers.best[0].text, answers.best[0].len);
        dg_item_count(item, &answers);
    }
    atomic_fetch_add(&run->n_over, 1);
    return rc;
}

/* The first error becomes the document's. */
static void write_error(struct dg_item *item, const struct dg_error *err)
{
    dg_error_set(&item->request->err, err->code, "%s", err->message);
}

static void request_over(struct dg_request *r)
{
    const struct dg_upload_run *run = r->extra;
    run->over(run->arg);
}

static const struct dg_request_kind kind = {.may_pivot = true,
    .fed = true,
    .write = write_item,
    .write_error = write_error,
    .over = request_over};

static void make_item(struct dg_upload_run *run, size_t i, const struct dg_request_options *options,
    struct dg_text *text)
{
    struct dg_item *item = &run->request->items[i];
    struct dg_extract_text from;
    dg_extract_text(run->extract, i, &from);
    *text = (struct dg_text){from.s, from.n};
    item->source = run->upload.source;
    item->target = run->upload.target;
    item->texts = text;
    item->n_texts = 1;
    item->source_characters = item->characters = dg_utf8_count(from.s, from.n);
    item->options = *options;
    item->options.format = from.format;
    item->options.markup = from.markup;
}

static int make_request(struct dg_upload_run *run, struct dg_app *app, struct dg_error *err)
{
    int rc = dg_request_open(app, NULL, &kind, &run->request, err);
    if (rc != DG_OK)
        return rc;
    struct dg_request *r = run->request;
    /* the model's length penalty */
    struct dg_request_options options = {.search.alpha = -1, .rerank = run->upload.rerank};
    snprintf(r->owner, sizeof r->owner, "%s", run->upload.owner);
    r->client = dg_gate_client_of(app->auth, r->owner);
    if (run->upload.glossary[0] != '\0')
        rc = dg_request_name_glossary(r, run->upload.glossary, &options, err);
    if (rc != DG_OK)
        return rc;
    struct dg_text *texts = dg_arena_array(&r->arena, run->n, sizeof *texts);
    rc = texts ? dg_request_make_items(r, run->n, err)
               : dg_error_set(err, DG_ENOMEM, "no memory for a document");
    for (size_t i = 0; i < run->n && rc == DG_OK; i++)
        make_item(run, i, &options, &texts[i]);
    r->extra = run;
    r->priority = DG_CLASS_BULK;
    atomic_store(&r->prepared, true);
    return rc;
}

int dg_upload_run_start(struct dg_app *app, const struct dg_upload *upload, struct dg_buffer *file,
    void (*over)(void *arg), void *arg, struct dg_upload_run **out, struct dg_error *err)
{
    /* An accepted document is translated, even if --max-batch-characters has been lowered since. */
    const struct dg_extract_limits limits = dg_upload_limits(DG_UPLOAD_MOST_BYTES);
    struct dg_upload_run *run = calloc(1, sizeof *run);
    if (!run) {
        dg_buffer_deinit(file);
        return dg_error_set(err, DG_ENOMEM, "no memory for a document");
    }
    run->upload = *upload;
    run->file = *file;
    run->over = over;
    run->arg = arg;
    dg_buffer_init(file);
    int rc = dg_extract_open(upload->name, run->file.data ? run->file.data : "", run->file.len,
        run->upload.target, &limits, &run->extract, err);
    if (rc == DG_OK) {
        run->n = dg_extract_count(run->extract);
        rc = make_request(run, app, err);
    }
    *out = run; /* the run may be over before dg_feeder_add returns */
    if (rc == DG_OK)
        rc = dg_feeder_add(app->feeder, run->request, err);
    if (rc != DG_OK) {
        dg_upload_run_close(run);
        *out = NULL;
    }
    return rc;
}

double dg_upload_run_share(const struct dg_upload_run *run)
{
    return run->n > 0 ? (double)atomic_load(&run->n_over) / (double)run->n : 1;
}

void dg_upload_run_end(struct dg_upload_run *run)
{
    dg_request_end(run->request, DG_TASK_STOPPED);
}

int dg_upload_run_result(struct dg_upload_run *run, struct dg_buffer *out, struct dg_error *err)
{
    const struct dg_request *r = run->request;
    if (r->err.code != DG_OK)
        return dg_error_set(err, r->err.code, "%s", r->err.message);
    struct dg_extract_answer *answers = calloc(run->n + 1, sizeof *answers);
    if (!answers)
        return dg_error_set(err, DG_ENOMEM, "no memory for a document");
    for (size_t i = 0; i < run->n; i++) {
        const struct dg_buffer *a = &r->items[i].answer;
        answers[i] = (struct dg_extract_answer){a->data ? a->data : "", a->len};
    }
    int rc = dg_extract_write(run->extract, answers, out, err);
    free(answers);
    return rc;
}

void dg_upload_run_close(struct dg_upload_run *run)
{
    if (!run)
        return;
    dg_request_free(run->request);
    dg_extract_close(run->extract);
    dg_buffer_deinit(&run->file);
    free(run);
}
