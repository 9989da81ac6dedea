#include "tokenizer/plain_text.h"

#include "tokenizer/word_mark.h"

#include <stdlib.h>
#include <string.h>

enum { ASKED = 256 }; /* most pieces to compare with the library at open */

/* Write the text of a piece to out, which has room for the piece; return its bytes. */
static size_t add_piece(const char *piece, char *out)
{
    size_t len = 0;
    for (const char *s = piece; *s;) {
        const size_t mark = dg_word_mark(s);
        out[len++] = mark ? ' ' : *s;
        s += mark ? mark : 1;
    }
    return len;
}

bool dg_plain_text_decode(const struct dg_plain_text *p, const struct dg_vocab *vocab,
    const int32_t *ids, size_t count, char **text, size_t *len, uint32_t *ends)
{
    size_t room = 1, at = 0;
    if (!p->plain || count == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!p->plain[ids[i]])
            return false;
        room += strlen(vocab->pieces[ids[i]]);
    }
    const char *first = vocab->pieces[ids[0]];
    size_t begin = p->strips ? dg_word_mark(first) : 0;
    /* A text that starts with several marks is left to the library, which decides how many are
     * dropped. */
    if (!first[begin] || dg_word_mark(first + begin))
        return false;
    char *out = malloc(room);
    if (!out)
        return false;
    for (size_t i = 0; i < count; i++) {
        at += add_piece(vocab->pieces[ids[i]] + begin, out + at);
        ends[i] = (uint32_t)at;
        begin = 0;
    }
    out[at] = '\0';
    *text = out;
    *len = at;
    return true;
}

/* True if the library decodes ids[n] to the same text. */
static bool agrees(const struct dg_plain_text *p, const struct dg_spm *spm,
    const struct dg_vocab *vocab, const int32_t *ids, size_t n)
{
    const char *pieces[ASKED];
    uint32_t ends[2][ASKED];
    char *text[2] = {NULL, NULL};
    size_t len[2];
    for (size_t i = 0; i < n; i++)
        pieces[i] = vocab->pieces[ids[i]];
    const bool same = dg_plain_text_decode(p, vocab, ids, n, &text[0], &len[0], ends[0]) &&
                      dg_spm_decode(spm, pieces, n, &text[1], &len[1], ends[1], NULL) == DG_OK &&
                      len[0] == len[1] && memcmp(text[0], text[1], len[0]) == 0 &&
                      memcmp(ends[0], ends[1], n * sizeof *ends[0]) == 0;
    free(text[0]);
    free(text[1]);
    return same;
}

/* Choose up to ASKED plain pieces; the first has a word mark and letters, as at the start of a
 * text. */
static size_t some_pieces(
    const struct dg_plain_text *p, const struct dg_vocab *vocab, int32_t ids[ASKED])
{
    size_t n = 0;
    for (uint32_t i = 0; i < vocab->size && n < ASKED; i++) {
        const char *s = vocab->pieces[i];
        const size_t mark = dg_word_mark(s);
        const bool begins = mark && s[mark] > ' ';
        if (p->plain[i] && (n > 0 || begins))
            ids[n++] = (int32_t)i;
    }
    return n;
}

int dg_plain_text_open(struct dg_plain_text *p, const struct dg_spm *spm,
    const struct dg_vocab *vocab, const int32_t *from_spm, struct dg_error *err)
{
    int32_t ids[ASKED];
    *p = (struct dg_plain_text){0};
    if (dg_spm_rewrites(spm))
        return DG_OK;
    p->plain = calloc(vocab->size, 1);
    if (!p->plain)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u pieces", vocab->size);
    for (int32_t i = 0; i < dg_spm_size(spm); i++)
        if (from_spm[i] >= 0 && dg_spm_is_plain(spm, i)) {
            size_t n;
            const char *piece = dg_spm_piece(spm, i, &n);
            p->plain[from_spm[i]] = strcmp(piece, vocab->pieces[from_spm[i]]) == 0;
        }
    const size_t n = some_pieces(p, vocab, ids);
    for (int strips = 1; strips >= 0 && n > 0; strips--) {
        p->strips = strips;
        if (agrees(p, spm, vocab, ids, n) && agrees(p, spm, vocab, ids, 1))
            return DG_OK;
    }
    dg_plain_text_deinit(p);
    return DG_OK;
}

void dg_plain_text_deinit(struct dg_plain_text *p)
{
    free(p->plain);
    *p = (struct dg_plain_text){0};
}
