/* DESIGN. In place of each span, SentencePiece sees one character that no vocabulary has, so that
 * word marks around it come out as around any word. The pieces that it gives for that character are
 * then replaced by the span's own piece. */
#include "tokenizer/tokenizer.h"

#include "base/buffer.h"
#include "tokenizer/word_mark.h"

#include <stdlib.h>
#include <string.h>

static const char STAND_IN[] = "\xEF\xB7\x90"; /* U+FDD0, a noncharacter */
enum { STAND_IN_BYTES = sizeof STAND_IN - 1 };

static int stand_in(const char *text, size_t n, const struct dg_token *spans, size_t n_spans,
    struct dg_buffer *out, struct dg_error *err)
{
    size_t at = 0;
    for (size_t i = 0; i < n_spans; i++) {
        if (spans[i].begin < at || spans[i].end < spans[i].begin || spans[i].end > n)
            return dg_error_set(err, DG_EINTERNAL, "span %u to %u is out of order or of the text",
                spans[i].begin, spans[i].end);
        dg_buffer_add(out, text + at, spans[i].begin - at);
        dg_buffer_add(out, STAND_IN, STAND_IN_BYTES);
        at = spans[i].end;
    }
    dg_buffer_add(out, text + at, n - at);
    return out->failed ? dg_error_set(err, DG_ENOMEM, "no memory for %zu bytes of text", n) : 0;
}

/* Convert, in place, tokens of the text with stand-ins to tokens of the text itself. Return their
 * number, which never grows; *exchanged counts the spans that were replaced. */
static size_t exchange(const struct dg_tokenizer *t, const struct dg_token *spans, size_t n_spans,
    struct dg_token *tokens, size_t count, size_t *exchanged)
{
    size_t kept = 0, next = 0;
    int64_t shift = 0; /* from offsets in the text with stand-ins to this text's */
    *exchanged = 0;
    for (size_t i = 0; i < count; i++) {
        struct dg_token token = tokens[i];
        /* Skip spans whose stand-in ends before this token; `from` is the next stand-in's
         * offset. */
        while (next < n_spans && token.begin >= spans[next].begin - shift + STAND_IN_BYTES) {
            shift += (int64_t)(spans[next].end - spans[next].begin) - STAND_IN_BYTES;
            next++;
        }
        const int64_t from = next < n_spans ? spans[next].begin - shift : INT64_MAX;
        const bool mark = strcmp(dg_tokenizer_piece(t, token.id), DG_WORD_MARK) == 0;
        if (token.begin >= from && !mark) {
            if (*exchanged == next) {
                tokens[kept++] = spans[next];
                ++*exchanged;
            }
            continue;
        }
        token.begin = (uint32_t)(token.begin + shift);
        token.end = (uint32_t)(token.end + shift);
        tokens[kept++] = token;
    }
    return kept;
}

int dg_tokenizer_encode_spans(const struct dg_tokenizer *t, const char *text, size_t n,
    const struct dg_token_spans *spans, struct dg_token **tokens, size_t *count,
    struct dg_error *err)
{
    struct dg_buffer other;
    struct dg_token *list = NULL;
    size_t size = 0, exchanged = 0;
    dg_buffer_init(&other);
    int rc = stand_in(text, n, spans->list, spans->n, &other, err);
    if (!rc && dg_tokenizer_has_piece(t, STAND_IN))
        rc = dg_error_set(err, DG_EUNSUP, "the vocabulary has U+FDD0 as a piece");
    if (!rc)
        rc = dg_tokenizer_encode(t, other.data ? other.data : "", other.len, &list, &size, err);
    dg_buffer_deinit(&other);
    if (rc)
        return rc;
    *count = exchange(t, spans->list, spans->n, list, size, &exchanged);
    if (exchanged == spans->n) {
        *tokens = list;
        return 0;
    }
    free(list);
    return dg_error_set(err, DG_EUNSUP,
        "only %zu of %zu spans have a piece of their own: the vocabulary has no byte pieces",
        exchanged, spans->n);
}
