#include "translate/job/prefix.h"

#include "base/array.h"
#include "text/utf8.h"
#include "tokenizer/word_mark.h"
#include "translate/layout/white_space.h"

#include <stdlib.h>
#include <string.h>

#define FIELD "target_prefix"
#define MAX_WORD 256 /* bytes; a longer last word is taken token by token */

#define NO_MEMORY(err) dg_error_set(err, DG_ENOMEM, "no memory for a prefix")

/* True if token `id` is written by its own letters: it is not special, unknown or a byte token. */
static bool is_plain(const struct dg_translator *t, int32_t id)
{
    const struct dg_config *c = dg_model_config(t->model);
    const char *token = dg_tokenizer_piece(t->target, id);
    if (id == c->eos || id == c->never || id == c->start || id == dg_tokenizer_unk(t->target))
        return false;
    return token[0] && !(strncmp(token, "<0x", 3) == 0 && strlen(token) == 6 && token[5] == '>');
}

/* The state that token[n] leads to from byte `at` of the word: the byte after it, or `len` if it
 * reaches or passes the word's end; 0 if its letters do not match. */
static size_t lead(const char *word, size_t len, size_t at, const char *token, size_t n)
{
    size_t left = len - at;
    return memcmp(word + at, token, n < left ? n : left) == 0 ? (n < left ? at + n : len) : 0;
}

/* Edges of the spelling automaton. States are byte offsets in the word, edges are tokens. Edges
 * into dead ends are left out, so states are processed from the word's end backwards. */
struct edges {
    /* [n] */
    struct edge {
        int32_t id;
        uint32_t next;
    } * list;
    size_t n, cap;
};

static int edge_add(struct edges *e, int32_t id, size_t next, struct dg_error *err)
{
    struct edge *list = dg_array_grow(e->list, e->n, &e->cap, sizeof *list);
    if (!list)
        return NO_MEMORY(err);
    e->list = list;
    list[e->n++] = (struct edge){id, (uint32_t)next};
    return 0;
}

/* A state's number of edges, and the fewest tokens from it to the word's end. */
struct state {
    uint32_t edges, least;
};

/* Find the edges of all states, last state first; states[len] is the word's end. */
static int find_edges(const struct dg_translator *t, const char *word, size_t len, struct edges *e,
    struct state states[MAX_WORD + 1], struct dg_error *err)
{
    uint32_t V = dg_tokenizer_size(t->target);
    int rc = 0;
    states[len] = (struct state){0, 0};
    for (size_t at = len; at-- > 0;) {
        states[at] = (struct state){0, UINT32_MAX};
        for (uint32_t id = 0; id < V && !rc; id++) {
            const char *token = dg_tokenizer_piece(t->target, (int32_t)id);
            if (token[0] != word[at] || !is_plain(t, (int32_t)id))
                continue;
            size_t next = lead(word, len, at, token, strlen(token));
            if (!next || (next < len && !states[next].edges))
                continue;
            rc = edge_add(e, (int32_t)id, next, err);
            states[at].edges++;
            if (states[next].least + 1 < states[at].least)
                states[at].least = states[next].least + 1;
        }
    }
    return rc;
}

static int spell(const struct dg_translator *t, struct dg_arena *arena, const char *word,
    struct dg_spelling *out, struct dg_error *err)
{
    struct edges e = {0};
    struct state states[MAX_WORD + 1] = {0};
    size_t len = strlen(word), from = 0;
    int rc = find_edges(t, word, len, &e, states, err);
    uint32_t *first = dg_arena_array(arena, len + 1, sizeof *first);
    uint32_t *least = dg_arena_array(arena, len + 1, sizeof *least);
    int32_t *ids = dg_arena_array(arena, e.n, sizeof *ids);
    uint32_t *next = dg_arena_array(arena, e.n, sizeof *next);
    if (!rc && (!first || !least || !ids || !next))
        rc = NO_MEMORY(err);
    bool possible = !rc && states[0].edges > 0;
    /* Copy in order of states: they were found backwards. */
    for (size_t at = len; !rc && at-- > 0; from += states[at].edges) {
        size_t to = e.n - from - states[at].edges;
        for (size_t i = 0; i < states[at].edges; i++) {
            ids[to + i] = e.list[from + i].id;
            next[to + i] = e.list[from + i].next;
        }
        first[at] = (uint32_t)to;
        least[at] = states[at].least;
    }
    if (possible) {
        first[len] = (uint32_t)e.n;
        least[len] = 0;
        *out = (struct dg_spelling){(uint32_t)len, first, ids, next, least};
    }
    free(e.list);
    return rc;
}

/* Write the letters of the unfinished last word to `word`, and the number of tokens before it to
 * *head. "": all tokens are taken as they are. */
static void last_word(const struct dg_translator *t, const struct dg_prefix *p, bool blank,
    char word[MAX_WORD + 1], uint32_t *head)
{
    size_t len = 0;
    *head = p->n;
    word[0] = '\0';
    if (blank) {
        strcpy(word, DG_WORD_MARK);
        return;
    }
    while (*head > 0 && !dg_word_mark(dg_tokenizer_piece(t->target, p->ids[*head - 1])))
        (*head)--;
    uint32_t from = *head > 0 ? *head - 1 : 0;
    *head = p->n;
    for (uint32_t i = from; i < p->n; i++) {
        const char *token = dg_tokenizer_piece(t->target, p->ids[i]);
        size_t n = strlen(token);
        if (!is_plain(t, p->ids[i]) || len + n > MAX_WORD) {
            word[0] = '\0';
            return;
        }
        memcpy(word + len, token, n + 1);
        len += n;
    }
    *head = from;
}

/* Set p->len to the number of bytes that the prefix takes in the answer's text. */
static int measure(
    const struct dg_translator *t, struct dg_prefix *p, bool blank, struct dg_error *err)
{
    char *text = NULL;
    int rc = dg_tokenizer_decode(t->target, p->ids, p->n, &text, &p->len, NULL, err);
    free(text);
    p->len += blank;
    return rc;
}

static int encode_tokens(const struct dg_translator *t, struct dg_arena *arena, const char *text,
    size_t n, struct dg_prefix *p, struct dg_error *err)
{
    char *s = dg_arena_strndup(arena, text, n), *save = NULL;
    p->ids = dg_arena_array(arena, n / 2 + 1, sizeof *p->ids);
    if (!s || !p->ids)
        return NO_MEMORY(err);
    for (char *w = strtok_r(s, DG_PIECE_GAPS, &save); w; w = strtok_r(NULL, DG_PIECE_GAPS, &save)) {
        if (!dg_tokenizer_has_piece(t->target, w))
            return dg_error_field(
                err, DG_EINVAL, FIELD, "token \"%.60s\" is not in the target vocabulary", w);
        p->ids[p->n++] = dg_tokenizer_id(t->target, w);
    }
    return 0;
}

static int encode(const struct dg_translator *t, struct dg_arena *arena, const char *text, size_t n,
    struct dg_prefix *p, struct dg_error *err)
{
    struct dg_token *tokens = NULL;
    char *nfc = NULL;
    size_t len, count = 0;
    int rc = dg_utf8_nfc(text, n, &nfc, &len, err);
    if (!rc)
        rc = dg_tokenizer_encode(t->target, nfc, len, &tokens, &count, err);
    if (!rc) {
        p->text = dg_arena_strndup(arena, nfc, len);
        p->ids = dg_arena_array(arena, count + 1, sizeof *p->ids);
        p->tokens = dg_arena_array(arena, count + 1, sizeof *p->tokens);
        rc = p->text && p->ids && p->tokens ? 0 : NO_MEMORY(err);
    }
    for (size_t i = 0; !rc && i < count; i++) {
        p->tokens[i] = tokens[i];
        p->ids[i] = tokens[i].id;
    }
    p->n = rc ? 0 : (uint32_t)count;
    free(tokens);
    free(nfc);
    return rc;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

const char *dg_prefix_skip(const char *prefix, const char *before, size_t n)
{
    const size_t longest = strlen(prefix);
    while (n > 0 && is_blank(before[n - 1]))
        n--;
    size_t at = n > longest ? n - longest : 0;
    const char *line_end = memrchr(before + at, '\n', n - at);
    /* The longest first; it begins after a blank, a tag or a line end. */
    for (at = line_end ? (size_t)(line_end - before) + 1 : at; at < n; at++) {
        if ((at > 0 && !is_blank(before[at - 1]) && !strchr(">\n", before[at - 1])) ||
            memcmp(before + at, prefix, n - at) != 0)
            continue;
        prefix += n - at;
        return prefix + strspn(prefix, " \t");
    }
    return prefix;
}

int dg_prefix_encode(const struct dg_translator *t, struct dg_arena *arena, const char *text,
    size_t n, bool tokens, struct dg_prefix *out, struct dg_error *err)
{
    char word[MAX_WORD + 1];
    uint32_t head;
    struct dg_error why = {0};
    memset(out, 0, sizeof *out);
    if (dg_utf8_check(text, n, &why))
        return dg_error_field(err, DG_EINVAL, FIELD, "%s", why.message);
    if (tokens)
        return encode_tokens(t, arena, text, n, out, err);
    if (n > DG_ENCODE_BYTES)
        return dg_error_field(err, DG_ELIMIT, FIELD, "%s has %zu bytes, it may have at most %d",
            FIELD, n, DG_ENCODE_BYTES);
    int rc = encode(t, arena, text, n, out, err);
    bool blank = out->n > 0 && dg_white_space(text[n - 1]);
    if (rc || (rc = measure(t, out, blank, err)))
        return rc;
    last_word(t, out, blank, word, &head);
    if (word[0] && (rc = spell(t, arena, word, &out->spelling, err)))
        return rc;
    if (out->spelling.n_states)
        out->n = head;
    return 0;
}
