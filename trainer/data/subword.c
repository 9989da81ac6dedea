/* DESIGN. A word is the run of pieces from one that begins with U+2581 up to the next such piece.
 * It starts as characters; of all neighbours that form a piece together, the pair with the lowest
 * id is merged or, with probability p, never considered again. SentencePiece's own sampling does
 * the same, but here the random numbers belong to the sentence. */
#include "trainer/data/subword.h"

#include "base/alloc.h"
#include "tokenizer/word_mark.h"
#include "trainer/data/random.h"
#include "trainer/data/string_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORD = 256 }; /* characters; longer words stay as they are */

struct dg_subword {
    /* all pieces, by their ids */
    struct dg_string_table *pieces;
    /* [V] length in characters; 0: the piece is not text */
    uint16_t *chars;
    /* [V] true if the piece begins a word */
    bool *first;
};

struct symbol {
    /* byte range in the word */
    uint32_t begin, end;
    /* merged: id of the piece formed with the next symbol; -1: none */
    int32_t id, merged;
    /* index of the next symbol; -1: this is the last */
    int next;
};

static size_t char_bytes(unsigned char c)
{
    return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

/* "</s>", "<unk>", "<2de>", "<0x41>": not made of merges. */
static bool is_special(const char *s, size_t n)
{
    return n > 2 && s[0] == '<' && s[n - 1] == '>';
}

/* Returns the id of the piece text[n]; -1: there is none, or it is not made of merges. */
static int32_t find(const struct dg_subword *s, const char *text, size_t n)
{
    uint32_t id;
    return dg_string_table_find(s->pieces, text, n, &id) && s->chars[id] ? (int32_t)id : -1;
}

int dg_subword_open(const struct dg_tokenizer *t, struct dg_subword **out, struct dg_error *err)
{
    const uint32_t V = dg_tokenizer_size(t);
    int rc = 0;
    *out = NULL;
    struct dg_subword *s = dg_alloc(1, sizeof *s, "a vocabulary");
    s->pieces = dg_string_table_new();
    s->chars = dg_alloc(V, sizeof *s->chars, "a vocabulary");
    s->first = dg_alloc(V, sizeof *s->first, "a vocabulary");
    for (uint32_t i = 0; i < V && !rc; i++) {
        const char *piece = dg_tokenizer_piece(t, (int32_t)i);
        size_t n = strlen(piece), chars = 0;
        uint32_t id; /* i: no piece is there twice */
        for (size_t k = 0; k < n; k += char_bytes((unsigned char)piece[k]))
            chars++;
        s->chars[i] = (uint16_t)(is_special(piece, n) || chars > MAX_WORD ? 0 : chars);
        s->first[i] = dg_word_mark(piece) > 0;
        rc = dg_string_table_add(s->pieces, piece, n, &id, err);
    }
    if (rc)
        dg_subword_close(s);
    else
        *out = s;
    return rc;
}

void dg_subword_close(struct dg_subword *s)
{
    if (!s)
        return;
    dg_string_table_free(s->pieces);
    free(s->chars);
    free(s->first);
    free(s);
}

static bool is_text(const struct dg_subword *s, int32_t id)
{
    return id >= 0 && (uint32_t)id < dg_string_table_count(s->pieces) && s->chars[id];
}

size_t dg_subword_room(const struct dg_subword *s, const int32_t *ids, size_t n)
{
    size_t room = 0;
    for (size_t i = 0; i < n; i++)
        room += is_text(s, ids[i]) ? s->chars[ids[i]] : 1;
    return room;
}

static void try_merge(const struct dg_subword *s, const char *word, struct symbol *y, int i)
{
    y[i].merged = y[i].next < 0 ? -1 : find(s, word + y[i].begin, y[y[i].next].end - y[i].begin);
}

/* Returns the first symbol of the pair to merge next, or -1. Equal ids mean equal texts; the
 * leftmost pair then goes first. */
static int best_pair(const struct symbol *y)
{
    int best = -1;
    for (int i = 0; i >= 0; i = y[i].next)
        if (y[i].merged >= 0 && (best < 0 || y[i].merged < y[best].merged))
            best = i;
    return best;
}

/* Splits the word into its characters; false if one of them is not a piece or there are more than
 * MAX_WORD. */
static bool cut_word(const struct dg_subword *s, const char *word, size_t n, struct symbol *y)
{
    int count = 0;
    for (size_t i = 0; i < n; count++) {
        size_t end = i + char_bytes((unsigned char)word[i]);
        if (count == MAX_WORD || end > n)
            return false;
        y[count] = (struct symbol){
            (uint32_t)i, (uint32_t)end, find(s, word + i, end - i), -1, end < n ? count + 1 : -1};
        if (y[count].id < 0)
            return false;
        i = end;
    }
    for (int i = 0; i < count; i++)
        try_merge(s, word, y, i);
    return count > 0;
}

static size_t draw_word(const struct dg_subword *s, const char *word, size_t n, double p,
    uint64_t *random, int32_t *out)
{
    struct symbol y[MAX_WORD];
    size_t n_out = 0;
    if (!cut_word(s, word, n, y))
        return 0;
    for (int i; (i = best_pair(y)) >= 0;) {
        if (p > 0 && dg_random_share(dg_random_next(random)) < p) {
            y[i].merged = -1;
            continue;
        }
        int gone = y[i].next;
        y[i].id = y[i].merged;
        y[i].end = y[gone].end;
        y[i].next = y[gone].next;
        try_merge(s, word, y, i);
        for (int k = 0; k != i; k = y[k].next)
            if (y[k].next == i)
                try_merge(s, word, y, k);
    }
    for (int i = 0; i >= 0; i = y[i].next)
        out[n_out++] = y[i].id;
    return n_out;
}

size_t dg_subword_draw(
    const struct dg_subword *s, const int32_t *ids, size_t n, double p, uint64_t key, int32_t *out)
{
    char word[MAX_WORD * 4];
    size_t done = 0;
    for (size_t i = 0; i < n;) {
        size_t end = i, len = 0;
        bool fits = true;
        for (; end < n && is_text(s, ids[end]) && (end == i || !s->first[ids[end]]); end++) {
            size_t bytes;
            const char *piece = dg_string_table_text(s->pieces, (uint32_t)ids[end], &bytes);
            fits = fits && len + bytes <= sizeof word;
            if (fits)
                memcpy(word + len, piece, bytes);
            len += fits ? bytes : 0;
        }
        size_t drawn = fits && end > i ? draw_word(s, word, len, p, &key, out + done) : 0;
        if (drawn == 0) {
            end = end > i ? end : i + 1;
            memcpy(out + done, ids + i, (end - i) * sizeof *out);
            drawn = end - i;
        }
        done += drawn;
        i = end;
    }
    return done;
}
