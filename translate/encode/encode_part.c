/* One part of a text -> ids (hop 4 of ARCHITECTURE.md). */
#include "text/letter_case.h"
#include "text/protected/quantity.h"
#include "text/tree/treebank_words.h"
#include "text/utf8.h"
#include "translate/encode/capitals.h"
#include "translate/encode/encode.h"

#include <stdlib.h>
#include <string.h>

uint32_t dg_source_tags(
    const struct dg_translator *t, const char *source_tag, const char *tag, int32_t *ids)
{
    const char *const tags[] = {source_tag, tag};
    uint32_t n = 0;
    for (int i = 0; i < 2; i++)
        if (tags[i])
            ids[n++] = dg_tokenizer_id(t->source, tags[i]);
    return n;
}

int dg_part_frame(struct dg_job *j, struct dg_part *p, struct dg_error *err)
{
    const struct dg_config *c = dg_model_config(j->t->model);
    p->ids = dg_arena_array(&j->arena, p->n_tokens + 3, sizeof *p->ids);
    if (!p->ids)
        return DG_JOB_NO_MEMORY(err);
    p->n_tags = p->n_ids = dg_source_tags(j->t, j->source_tag, j->tag, p->ids);
    for (size_t i = 0; i < p->n_tokens; i++)
        p->ids[p->n_ids++] = p->tokens[i].id;
    if (c->source_eos)
        p->ids[p->n_ids++] = c->eos;
    return 0;
}

/* Put the words in place of *s[*n] (malloc'd), unless rc says that they failed. */
static int take_words(struct dg_buffer *words, int rc, char **s, size_t *n, struct dg_error *err)
{
    if (!rc && words->failed)
        rc = DG_JOB_NO_MEMORY(err);
    if (!rc) {
        free(*s);
        *s = dg_buffer_take(words, n);
    }
    dg_buffer_deinit(words);
    return rc;
}

/* Replace the hyphens U+2010 and U+2011 of words in s[*n] by "-": no model was trained with them.
 */
static void read_hyphens(char *s, size_t *n)
{
    size_t to = 0;
    for (size_t i = 0; i < *n; i++) {
        const bool hyphen = *n - i > 3 && i > 0 && memcmp(s + i, "\xE2\x80", 2) == 0 &&
                            (s[i + 2] == '\x90' || s[i + 2] == '\x91') && s[i - 1] != ' ' &&
                            s[i + 3] != ' ';
        s[to++] = hyphen ? '-' : s[i];
        i += hyphen ? 2 : 0;
    }
    s[to] = '\0';
    *n = to;
}

/* Tokenize s[n], with reserved pieces for the stand-ins that have one. */
static int encode_pieces(const struct dg_tokenizer *tokenizer, const struct dg_part *p,
    const char *s, size_t n, struct dg_token **tokens, size_t *count, struct dg_error *err)
{
    struct dg_token list[DG_MAX_STAND_INS];
    const struct dg_token_spans spans = {list, dg_stand_in_find(&p->shown, s, n, list)};
    return spans.n ? dg_tokenizer_encode_spans(tokenizer, s, n, &spans, tokens, count, err)
                   : dg_tokenizer_encode(tokenizer, s, n, tokens, count, err);
}

int dg_part_tokenize(struct dg_job *j, const struct dg_tokenizer *tokenizer, const char *s,
    size_t n, struct dg_part *p, struct dg_error *err)
{
    char *nfc = NULL;
    struct dg_token *tokens = NULL;
    struct dg_buffer words = {0};
    size_t nfc_len, count;
    int rc = dg_utf8_nfc(s, n, &nfc, &nfc_len, err);
    if (!rc)
        read_hyphens(nfc, &nfc_len);
    if (!rc && p->capitals) {
        rc =
            dg_capitals_read(j->t->source, j->from, j->options.glossary, nfc, nfc_len, &words, err);
        rc = take_words(&words, rc, &nfc, &nfc_len, err);
    }
    if (!rc && p->treebank_words && nfc_len) {
        dg_treebank_words(nfc, nfc_len, &words);
        rc = take_words(&words, 0, &nfc, &nfc_len, err);
    }
    if (rc || (rc = encode_pieces(tokenizer, p, nfc, nfc_len, &tokens, &count, err)))
        goto out;
    p->text = dg_arena_strndup(&j->arena, nfc, nfc_len);
    p->tokens = dg_arena_array(&j->arena, count, sizeof *tokens);
    p->n_tokens = count;
    if (!p->text || !p->tokens) {
        rc = DG_JOB_NO_MEMORY(err);
        goto out;
    }
    if (count)
        memcpy(p->tokens, tokens, count * sizeof *tokens);
out:
    free(nfc);
    free(tokens);
    return rc;
}

bool dg_job_answer_is_free(const struct dg_job *j)
{
    return j->begun || !(j->options.prefix || j->options.first_as_it_is);
}

/* True if s[n] has a letter outside its protected spans, or in a quantity. */
static bool has_words(const struct dg_job *j, const struct dg_part *p, const char *s, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < p->shown.n_marks; i++) {
        const struct dg_mark *mark = &p->shown.marks[i];
        if (mark->kind != DG_MARK_PROTECTED)
            continue;
        const char *const span = j->text + mark->begin;
        const size_t len = mark->end - mark->begin;
        if (dg_utf8_has_letter(s + at, mark->at - at) ||
            (dg_quantity_is(span, len) && dg_utf8_has_letter(span, len)))
            return true;
        at = mark->at + mark->len;
    }
    return dg_utf8_has_letter(s + at, n - at);
}

uint32_t dg_job_most_source_tokens(const struct dg_job *j)
{
    const uint32_t model = dg_model_config(j->t->model)->max_source;
    return model && model < j->options.max_source ? model : j->options.max_source;
}

int dg_job_check_one_sentence(const struct dg_job *j, struct dg_error *err)
{
    if (j->n_sentences == 0)
        return dg_error_field(err, DG_EINVAL, "text", "there is nothing to translate in the text");
    if (j->n_sentences > 1)
        return dg_error_field(err, DG_ELIMIT, "text", "the text is over the limit of %u tokens",
            dg_job_most_source_tokens(j));
    return 0;
}

int dg_part_encode(struct dg_job *j, struct dg_part *p, struct dg_error *err)
{
    const struct dg_config *c = dg_model_config(j->t->model);
    const char *const s = p->shown.text ? p->shown.text : j->text + p->begin;
    const size_t n = p->shown.text ? p->shown.len : p->end - p->begin;
    const uint32_t frame =
        (j->tag ? 1u : 0u) + (j->source_tag ? 1u : 0u) + (c->source_eos ? 1u : 0u);
    const uint32_t most = dg_job_most_source_tokens(j);
    if (!has_words(j, p, s, n)) {
        p->copied = true;
        return 0;
    }
    if (n > DG_ENCODE_BYTES)
        return DG_EAGAIN;
    p->capitals = dg_job_answer_is_free(j) && dg_letter_case_is_capitals(s, n) &&
                  dg_bundle_capitals_as_words(j->t->bundle);
    p->treebank_words = j->trees;
    int rc = dg_part_tokenize(j, j->t->source, s, n, p, err);
    if (rc)
        return rc;
    if (p->n_tokens + frame > most)
        return DG_EAGAIN;
    p->copied = p->n_tokens == 0;
    rc = dg_part_frame(j, p, err);
    return rc || p->copied ? rc : dg_part_find_terms(j, p, err);
}
