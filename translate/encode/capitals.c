#include "translate/encode/capitals.h"

#include "model/engine/terms.h"
#include "text/letter_case.h"
#include "translate/layout/white_space.h"

#include <stdlib.h>

/* How well the vocabulary knows a word. */
struct fame {
    size_t n_tokens;
    /* sum of the ids (INT32_MAX for an unknown token); the vocabulary is in order of merges,
     * frequent tokens first */
    int64_t ids;
};

static int fame_of(
    const struct dg_tokenizer *t, const char *s, size_t n, struct fame *out, struct dg_error *err)
{
    struct dg_token *tokens = NULL;
    int rc = dg_tokenizer_encode(t, s, n, &tokens, &out->n_tokens, err);
    out->ids = 0;
    for (size_t i = 0; !rc && i < out->n_tokens; i++)
        out->ids += tokens[i].id == dg_tokenizer_unk(t) ? INT32_MAX : tokens[i].id;
    free(tokens);
    return rc;
}

static bool is_better(const struct fame *a, const struct fame *b)
{
    return a->n_tokens != b->n_tokens ? a->n_tokens < b->n_tokens : a->ids < b->ids;
}

/* Append one word in its best form. small: the word may begin with a small letter. */
static int read_word(const struct dg_tokenizer *t, const char *language, const char *s, size_t n,
    bool small, struct dg_buffer *out, struct dg_error *err)
{
    struct dg_buffer forms[3]; /* "the", "The", "THE" */
    struct fame fame[3];
    size_t head = dg_letter_case_first_letter(s, n), best = 0;
    for (size_t i = 0; i < 3; i++)
        dg_buffer_init(&forms[i]);
    int rc = dg_letter_case_lower(language, s, n, &forms[0], err);
    dg_buffer_add(&forms[1], s, head);
    if (!rc)
        rc = dg_letter_case_lower(language, s + head, n - head, &forms[1], err);
    dg_buffer_add(&forms[2], s, n);
    for (size_t i = 0; !rc && i < 3; i++) {
        if (forms[i].failed)
            rc = dg_error_set(err, DG_ENOMEM, "no memory for a word of %zu bytes", n);
        else
            rc = fame_of(t, forms[i].data, forms[i].len, &fame[i], err);
        if (!rc && is_better(&fame[i], &fame[best]))
            best = i;
    }
    if (best == 0 && !small)
        best = 1;
    if (!rc)
        dg_buffer_add(out, forms[best].data, forms[best].len);
    for (size_t i = 0; i < 3; i++)
        dg_buffer_deinit(&forms[i]);
    return rc;
}

/* True if bytes begin .. end have a part of a term that only these capitals match. */
static bool has_term(
    const struct dg_glossary_match *terms, size_t n_terms, size_t begin, size_t end)
{
    for (size_t i = 0; i < n_terms; i++)
        if (terms[i].as_written && terms[i].begin < end && terms[i].end > begin)
            return true;
    return false;
}

int dg_capitals_read(const struct dg_tokenizer *t, const char *language,
    const struct dg_glossary *glossary, const char *s, size_t n, struct dg_buffer *out,
    struct dg_error *err)
{
    struct dg_glossary_match terms[DG_MAX_TERMS];
    const size_t n_terms = glossary ? dg_glossary_find(glossary, s, n, terms, DG_MAX_TERMS) : 0;
    bool first = true;
    int rc = 0;
    for (size_t at = 0, end; at < n && !rc; at = end) {
        for (end = at; end < n && dg_white_space(s[end]) == dg_white_space(s[at]);)
            end++;
        if (dg_letter_case_first_letter(s + at, end - at) == 0) {
            dg_buffer_add(out, s + at, end - at);
        } else if (has_term(terms, n_terms, at, end)) {
            dg_buffer_add(out, s + at, end - at);
            first = false;
        } else {
            rc = read_word(t, language, s + at, end - at, !first, out, err);
            first = false;
        }
    }
    return rc;
}
