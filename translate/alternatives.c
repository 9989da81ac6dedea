/* Alternative continuations at one position of an answer. Each is a separate search over the same
 * source, whose first free token is the best, the second best, ...; they run side by side in the
 * engine's batch. */
#include "translate/job_internal.h"

#include <stdlib.h>
#include <string.h>

/* Extra searches: the engine varies tokens and the caller wants words, and several tokens may begin
 * the same word. */
#define MORE 3
#define MOST DG_MAX_BEAM

/* The job's one sentence, n times. Everything in it is shared and const from here on. */
static int repeat(struct dg_job *j, uint32_t n, struct dg_error *err)
{
    struct dg_part *parts = calloc(n, sizeof *parts);
    size_t *sentences = calloc(n, sizeof *sentences);
    if (!parts || !sentences) {
        free(parts);
        free(sentences);
        return DG_JOB_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        parts[i] = j->parts[j->sentences[0]];
        sentences[i] = i;
    }
    free(j->parts);
    free(j->sentences);
    j->parts = parts;
    j->sentences = sentences;
    j->n_parts = j->parts_cap = j->n_sentences = n;
    return 0;
}

int dg_job_encode_alternatives(const struct dg_translator *t, const char *text, size_t n_text,
    uint32_t n, const struct dg_translate_options *o, struct dg_job **out, struct dg_error *err)
{
    struct dg_translate_options options = *o;
    struct dg_job *j = NULL;
    options.one_sentence = true;
    options.format = DG_FORMAT_TEXT;
    options.prefix = o->prefix ? o->prefix : "";
    options.alignments = false;
    options.search.n_best = 1;
    int rc = dg_job_encode(t, text, n_text, &options, &j, err);
    if (!rc && j->n_sentences != 1)
        rc = dg_error_field(err, j->n_sentences ? DG_ELIMIT : DG_EINVAL, "text", "the text is %s",
            j->n_sentences ? "over the model's limit for one sentence"
                           : "no sentence: there are no letters in it");
    if (!rc) {
        j->n_alternatives = n;
        rc = repeat(j, n + MORE < MOST ? n + MORE : MOST, err);
    }
    if (rc) {
        dg_job_free(j);
        return rc;
    }
    *out = j;
    return 0;
}

/* Length in bytes of an answer up to the end of the word at the prefix's end. */
static size_t up_to_word(const struct dg_prefix *p, const char *text)
{
    size_t at = strnlen(text, p->len);
    return at + strcspn(text + at, " ");
}

static bool is_new(
    const struct dg_job *j, const struct dg_answer *list, size_t n, const struct dg_answer *a)
{
    size_t len = up_to_word(&j->prefix, a->text);
    for (size_t i = 0; i < n; i++)
        if (up_to_word(&j->prefix, list[i].text) == len && !memcmp(list[i].text, a->text, len))
            return false;
    return true;
}

static int better(const void *a, const void *b)
{
    const struct dg_answer *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return strcmp(x->text, y->text);
}

static int write_all(struct dg_job *j, struct dg_answer *list, size_t *n, struct dg_error *err)
{
    struct dg_buffer text;
    int rc = 0;
    dg_buffer_init(&text);
    for (size_t i = 0; i < j->n_parts && !rc; i++) {
        struct dg_part *p = &j->parts[i];
        if (!p->n_hyps)
            continue;
        dg_buffer_reset(&text);
        rc = dg_part_write(j, p, &p->hyps[0], &text, err);
        char *copy = dg_arena_strndup(&j->arena, text.data ? text.data : "", text.len);
        if (!rc && (text.failed || !copy))
            rc = DG_JOB_NO_MEMORY(err);
        if (!rc)
            list[(*n)++] = (struct dg_answer){copy, text.len, p->hyps[0].score};
    }
    dg_buffer_deinit(&text);
    return rc;
}

int dg_job_finish_alternatives(
    struct dg_job *j, const struct dg_answer **list, size_t *n, struct dg_error *err)
{
    size_t all = 0, kept = 0;
    struct dg_answer *a = dg_arena_array(&j->arena, j->n_parts, sizeof *a);
    if (!j->n_alternatives || j->n_accepted != j->n_sentences)
        return dg_error_set(err, DG_EINTERNAL, "not a finished job of alternatives");
    if (!a)
        return DG_JOB_NO_MEMORY(err);
    int rc = write_all(j, a, &all, err);
    if (rc)
        return rc;
    qsort(a, all, sizeof *a, better);
    for (size_t i = 0; i < all && kept < j->n_alternatives; i++)
        if (is_new(j, a, kept, &a[i]))
            a[kept++] = a[i];
    *list = a;
    *n = kept;
    return 0;
}
