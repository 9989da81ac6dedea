#include "translate/translator/word_pieces.h"

#include "text/glossary.h"
#include "text/scan.h"
#include "tokenizer/word_mark.h"

#include <stdbool.h>
#include <stdlib.h>

/* True if a word may begin right after the piece. */
static bool opens(const char *piece, size_t n)
{
    const size_t mark = dg_word_mark(piece), k = strlen(DG_WORD_MARK);
    if (n >= k && dg_word_mark(piece + n - k))
        return true;
    return dg_glossary_opens(piece + mark, n - mark, mark > 0);
}

/* True if the piece begins a word: with a blank, or with a letter of a script without blanks. */
static bool begins(const char *piece, size_t n)
{
    const size_t mark = dg_word_mark(piece) < n ? dg_word_mark(piece) : 0;
    const int32_t c = n ? dg_scan_peek(piece, mark, n) : -1;
    return (mark && dg_glossary_is_word(piece, n, mark)) ||
           (dg_scan_is_unspaced(c) && dg_scan_is_letter(c));
}

int dg_word_pieces_open(
    const struct dg_tokenizer *t, struct dg_word_pieces *out, struct dg_error *err)
{
    const uint32_t V = dg_tokenizer_size(t);
    out->continues = calloc(V / 64 + 1, sizeof *out->continues);
    out->opens = calloc(V / 64 + 1, sizeof *out->opens);
    out->begins = calloc(V / 64 + 1, sizeof *out->begins);
    if (!out->continues || !out->opens || !out->begins)
        return dg_error_set(err, DG_ENOMEM, "no memory for a vocabulary of %u pieces", V);
    for (uint32_t id = 0; id < V; id++) {
        const char *piece = dg_tokenizer_piece(t, (int32_t)id);
        const size_t n = strlen(piece);
        const uint64_t bit = UINT64_C(1) << (id % 64);
        if (n && dg_glossary_is_word(piece, n, 0))
            out->continues[id / 64] |= bit;
        if (opens(piece, n))
            out->opens[id / 64] |= bit;
        if (begins(piece, n))
            out->begins[id / 64] |= bit;
    }
    return 0;
}

void dg_word_pieces_close(struct dg_word_pieces *w)
{
    free(w->continues);
    free(w->opens);
    free(w->begins);
}
