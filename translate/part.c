/* One sentence of an answer by itself, before the others are there. */
#include "base/buffer.h"
#include "text/utf8.h"
#include "translate/job_internal.h"

#include <string.h>

size_t dg_job_parts(const struct dg_job *j)
{
    return j->n_parts;
}

/* Count every part's span in the source in code points, once a job. */
static int count_spans(struct dg_job *j, struct dg_error *err)
{
    if (j->spans)
        return 0;
    struct dg_span *spans = dg_arena_array(&j->arena, j->n_parts, sizeof *spans);
    if (!spans)
        return DG_JOB_NO_MEMORY(err);
    size_t byte = 0, character = 0;
    for (size_t i = 0; i < j->n_parts; i++) {
        const struct dg_part *p = &j->parts[i];
        spans[i].begin = character + dg_utf8_count(j->text + byte, p->begin - byte);
        spans[i].end = spans[i].begin + dg_utf8_count(j->text + p->begin, p->end - p->begin);
        byte = p->end;
        character = spans[i].end;
    }
    j->spans = spans;
    return 0;
}

static bool is_accepted(const struct dg_part *p)
{
    return p->copied || p->hyps;
}

int dg_job_finish_part(
    struct dg_job *j, size_t i, struct dg_finished_part *out, struct dg_error *err)
{
    struct dg_part *p = &j->parts[i];
    struct dg_buffer text;
    if (!is_accepted(p))
        return DG_EAGAIN;
    for (size_t k = p->inner; k < p->inner + p->n_inner; k++)
        if (!is_accepted(&j->parts[k]))
            return DG_EAGAIN;
    int rc = count_spans(j, err);
    if (rc)
        return rc;
    dg_buffer_init(&text);
    rc = dg_part_answer(j, p, 0, &text, err);
    const char *copy = rc || text.failed
                           ? NULL
                           : dg_arena_strndup(&j->arena, text.data ? text.data : "", text.len);
    if (!rc && !copy)
        rc = DG_JOB_NO_MEMORY(err);
    if (!rc)
        *out = (struct dg_finished_part){.text = copy,
            .len = text.len,
            .characters = dg_utf8_count(copy, text.len),
            .source_begin = j->spans[i].begin,
            .source_end = j->spans[i].end,
            .score = p->copied ? 0 : p->hyps[0].score,
            .confidence = p->copied ? 0 : dg_part_confidence(&p->hyps[0]),
            .flags = p->flags};
    dg_buffer_deinit(&text);
    return rc;
}
