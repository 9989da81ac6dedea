/* Alternative continuations at one position of an answer. Each is a separate search over the same
 * source, whose first free token is the best, the second best, ...; they run side by side in the
 * engine's batch. */
#include "translate/answer/answer.h"

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
    options.first_as_it_is = true;
    options.known = NULL;
    options.glossary = NULL;
    options.alignments = false;
    options.search.n_best = 1;
    int rc = dg_job_encode(t, text, n_text, &options, &j, err);
    if (!rc)
        rc = dg_job_check_one_sentence(j, err);
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

/* An alternative, and its words without what marks put between them. */
struct alternative {
    struct dg_answer answer;
    const char *words;
};

/* False if an earlier one has the same word at the prefix's end, or is the same text: the model may
 * go on otherwise within a span that is written as in the source. */
static bool is_new(const struct dg_job *j, const struct alternative *list, size_t n)
{
    const char *words = list[n].words;
    size_t len = up_to_word(&j->prefix, words);
    for (size_t i = 0; i < n; i++)
        if ((up_to_word(&j->prefix, list[i].words) == len && !memcmp(list[i].words, words, len)) ||
            strcmp(list[i].answer.text, list[n].answer.text) == 0)
            return false;
    return true;
}

static int better(const void *a, const void *b)
{
    const struct alternative *x = a, *y = b;
    if (x->answer.score != y->answer.score)
        return x->answer.score > y->answer.score ? -1 : 1;
    return strcmp(x->answer.text, y->answer.text);
}

/* Write p's answer. marks: with p's marks put back. */
static int write_one(struct dg_job *j, const struct dg_part *p, bool marks, struct dg_answer *out,
    struct dg_error *err)
{
    struct dg_part copy = *p;
    struct dg_buffer text;
    dg_buffer_init(&text);
    copy.shown.n_marks = marks ? p->shown.n_marks : 0;
    int rc = dg_part_write(j, &copy, copy.hyps, &text, err);
    const char *s = dg_arena_strndup(&j->arena, text.data ? text.data : "", text.len);
    if (!rc && (text.failed || !s))
        rc = DG_JOB_NO_MEMORY(err);
    *out = (struct dg_answer){s, text.len, p->hyps[0].score};
    dg_buffer_deinit(&text);
    return rc;
}

static int write_all(struct dg_job *j, struct alternative *list, size_t *n, struct dg_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < j->n_parts && !rc; i++) {
        const struct dg_part *p = &j->parts[i];
        struct dg_answer words;
        if (!p->n_hyps)
            continue;
        rc = write_one(j, p, true, &list[*n].answer, err);
        words = list[*n].answer;
        if (!rc && p->shown.n_marks)
            rc = write_one(j, p, false, &words, err);
        list[(*n)++].words = words.text;
    }
    return rc;
}

int dg_job_finish_alternatives(
    struct dg_job *j, const struct dg_answer **list, size_t *n, struct dg_error *err)
{
    size_t all = 0, kept = 0;
    struct alternative *a = dg_arena_array(&j->arena, j->n_parts, sizeof *a);
    struct dg_answer *answers = dg_arena_array(&j->arena, j->n_parts, sizeof *answers);
    if (!j->n_alternatives || j->n_accepted != j->n_sentences)
        return dg_error_set(err, DG_EINTERNAL, "not a finished job of alternatives");
    if (!a || !answers)
        return DG_JOB_NO_MEMORY(err);
    int rc = write_all(j, a, &all, err);
    if (rc)
        return rc;
    qsort(a, all, sizeof *a, better);
    for (size_t i = 0; i < all && kept < j->n_alternatives; i++) {
        a[kept] = a[i];
        if (is_new(j, a, kept))
            answers[kept++] = a[i].answer;
    }
    *list = answers;
    *n = kept;
    return 0;
}
