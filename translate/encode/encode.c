/* Text -> sentences -> ids (hops 3 and 4 of ARCHITECTURE.md). */
#include "text/utf8.h"
#include "translate/encode/encode.h"

#include <stdlib.h>
#include <string.h>

/* tokens */

/* Look up the white-space-separated tokens s[n] in one side's vocabulary. */
static int read_tokens(struct dg_job *j, const struct dg_tokenizer *tokenizer, const char *s,
    size_t n, const char *field, struct dg_part *p, struct dg_error *err)
{
    char *copy = dg_arena_strndup(&j->arena, s, n), *save = NULL;
    p->tokens = dg_arena_array(&j->arena, n / 2 + 1, sizeof *p->tokens);
    if (!copy || !p->tokens)
        return DG_JOB_NO_MEMORY(err);
    p->text = s;
    for (char *w = strtok_r(copy, DG_PIECE_GAPS, &save); w;
         w = strtok_r(NULL, DG_PIECE_GAPS, &save)) {
        const size_t begin = (size_t)(w - copy);
        const int32_t id = dg_tokenizer_id(tokenizer, w);
        if (id < 0)
            return dg_error_field(err, DG_EINVAL, field,
                "token \"%.60s\" is not in the %s vocabulary", w,
                strcmp(field, "text") == 0 ? "source" : "target");
        p->tokens[p->n_tokens++] =
            (struct dg_token){id, (uint32_t)begin, (uint32_t)(begin + strlen(w))};
    }
    return 0;
}

/* Find the tokens of s[n], which is not split. field: "text", or the target to score. */
static int tokenize(struct dg_job *j, const struct dg_tokenizer *tokenizer, const char *s, size_t n,
    const char *field, struct dg_part *p, struct dg_error *err)
{
    return j->options.tokens ? read_tokens(j, tokenizer, s, n, field, p, err)
                             : dg_part_tokenize(j, tokenizer, s, n, p, err);
}

/* Make the whole text one part. */
static int encode_whole(struct dg_job *j, struct dg_error *err)
{
    struct dg_part *p = dg_part_new(j, 0, j->len, err);
    if (!p)
        return DG_ENOMEM;
    p->treebank_words = j->trees;
    int rc = tokenize(j, j->t->source, j->text, j->len, "text", p, err);
    if (!rc)
        rc = dg_part_frame(j, p, err);
    if (!rc && p->n_ids > j->options.max_source)
        rc = dg_error_field(err, DG_ELIMIT, "text", "%u tokens are over the limit of %u", p->n_ids,
            j->options.max_source);
    return rc;
}

/* The list of parts that are engine work, in the order of the text: the first one gets the prefix.
 * A part within another one follows it. */
static int list_sentences(struct dg_job *j, struct dg_error *err)
{
    j->sentences = malloc((j->n_parts + j->n_inner + 1) * sizeof *j->sentences);
    if (!j->sentences)
        return DG_JOB_NO_MEMORY(err);
    for (size_t i = 0; i < j->n_parts; i++) {
        const struct dg_part *p = &j->parts[i];
        if (!p->copied)
            j->sentences[j->n_sentences++] = i;
        for (size_t k = p->inner; k < p->inner + p->n_inner; k++)
            if (!j->parts[k].copied)
                j->sentences[j->n_sentences++] = k;
    }
    return 0;
}

static int check_text(const struct dg_translator *t, const char *text, size_t n, bool tokens,
    const char *field, struct dg_error *err)
{
    struct dg_error why = {0};
    if (dg_utf8_check(text, n, &why))
        return dg_error_field(err, DG_EINVAL, field, "%s", why.message);
    if (!tokens && (!dg_tokenizer_has_text(t->source) || !dg_tokenizer_has_text(t->target)))
        return dg_error_set(err, DG_EUNSUP,
            "model %s has no SentencePiece model: it takes tokens only", dg_bundle_name(t->bundle));
    return 0;
}

static int encode_prefix(struct dg_job *j, const char *text, struct dg_error *err)
{
    if (!j->n_sentences)
        return 0; /* nothing is translated, so the prefix applies to nothing */
    if (!j->options.tokens)
        text = dg_prefix_skip(text, j->text, j->parts[j->sentences[0]].begin);
    if (!text[0])
        return 0;
    int rc =
        dg_prefix_encode(j->t, &j->arena, text, strlen(text), j->options.tokens, &j->prefix, err);
    if (rc)
        return rc;
    const struct dg_spelling *spelling = &j->prefix.spelling;
    const uint32_t least = j->prefix.n + (spelling->n_states ? spelling->least[0] : 0),
                   most = dg_part_limit(j, &j->parts[j->sentences[0]]);
    if (least > most)
        return dg_error_field(err, DG_ELIMIT, "target_prefix",
            "the prefix has %u tokens, an answer to this sentence may have %u", least, most);
    return 0;
}

/* Make the whole text one part that is copied as it is. */
static int encode_same_language(struct dg_job *j, struct dg_error *err)
{
    struct dg_part *p = dg_part_new(j, 0, j->len, err);
    if (!p)
        return DG_ENOMEM;
    p->copied = true;
    p->flags = DG_FLAG_SAME_LANGUAGE;
    return 0;
}

/* Set j->start to the leading token for the target language, then ids[n]. */
static int start_decoder(struct dg_job *j, const int32_t *ids, uint32_t n, struct dg_error *err)
{
    size_t k = 0;
    j->start = dg_arena_array(&j->arena, n + 1, sizeof *j->start);
    if (!j->start)
        return DG_JOB_NO_MEMORY(err);
    if (j->lead >= 0)
        j->start[k++] = j->lead;
    if (n)
        memcpy(j->start + k, ids, n * sizeof *ids);
    return 0;
}

int dg_job_encode(const struct dg_translator *t, const char *text, size_t n,
    const struct dg_translate_options *o, struct dg_job **out, struct dg_error *err)
{
    struct dg_job *j = NULL;
    int rc = check_text(t, text, n, o->tokens, "text", err);
    if (rc || (rc = dg_job_new(t, text, n, o, &j, err)))
        return rc;
    rc = o->same_language ? encode_same_language(j, err)
         : o->tokens      ? encode_whole(j, err)
                          : dg_job_encode_sentences(j, err);
    if (!rc)
        rc = list_sentences(j, err);
    if (!rc && j->options.prefix)
        rc = encode_prefix(j, j->options.prefix, err);
    if (!rc)
        rc = start_decoder(j, j->prefix.ids, j->prefix.n, err);
    j->options.prefix = NULL; /* these are borrowed from the caller for encoding only */
    j->options.markup = NULL;
    j->options.check = NULL;
    j->options.known = NULL;
    if (rc) {
        dg_job_free(j);
        return rc;
    }
    *out = j;
    return 0;
}

/* Check the length of a text that is not split, before the tokenizer sees it. The limit grows with
 * o->max_source above the default. */
static int check_bytes(
    const struct dg_translate_options *o, size_t n, const char *field, struct dg_error *err)
{
    const size_t longer = (size_t)o->max_source * (DG_ENCODE_BYTES / DG_DEFAULT_MAX_SOURCE),
                 most = longer > DG_ENCODE_BYTES ? longer : DG_ENCODE_BYTES;
    if (n <= most || o->tokens)
        return 0;
    return dg_error_field(err, DG_ELIMIT, field,
        "%s has %zu bytes, one sentence may have at most %zu", field, n, most);
}

/* Encode the target to score, with </s>. */
static int encode_forced(struct dg_job *j, const char *target, size_t n, struct dg_error *err)
{
    struct dg_part p = {0};
    int rc = tokenize(j, j->t->target, target, n, "translation", &p, err);
    if (rc)
        return rc;
    int32_t *ids = dg_arena_array(&j->arena, p.n_tokens + 1, sizeof *ids);
    if (!ids)
        return DG_JOB_NO_MEMORY(err);
    for (size_t i = 0; i < p.n_tokens; i++)
        ids[j->n_forced++] = p.tokens[i].id;
    ids[j->n_forced++] = dg_model_config(j->t->model)->eos;
    if (j->n_forced + (j->lead >= 0) > dg_model_max_positions(j->t->model))
        return dg_error_field(err, DG_ELIMIT, "translation", "%u tokens are over the limit of %u",
            j->n_forced, dg_model_max_positions(j->t->model));
    return start_decoder(j, ids, j->n_forced, err);
}

int dg_job_encode_score(const struct dg_translator *t, const struct dg_text_pair *pair,
    const struct dg_translate_options *o, struct dg_job **out, struct dg_error *err)
{
    const char *source = pair->source;
    const size_t n_source = pair->n_source;
    struct dg_job *j = NULL;
    int rc = check_text(t, source, n_source, o->tokens, "text", err);
    if (!rc)
        rc = check_text(t, pair->target, pair->n_target, o->tokens, "translation", err);
    if (!rc)
        rc = check_bytes(o, n_source, "text", err);
    if (!rc)
        rc = check_bytes(o, pair->n_target, "translation", err);
    if (rc || (rc = dg_job_new(t, source, n_source, o, &j, err)))
        return rc;
    rc = encode_whole(j, err);
    if (!rc)
        rc = encode_forced(j, pair->target, pair->n_target, err);
    if (!rc)
        rc = list_sentences(j, err);
    if (rc) {
        dg_job_free(j);
        return rc;
    }
    *out = j;
    return 0;
}
