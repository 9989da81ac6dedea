#include "tokenizer/tokenizer.h"

#include "base/buffer.h"
#include "base/file.h"
#include "tokenizer/plain_text.h"
#include "tokenizer/spm_processor.h"
#include "tokenizer/vocab.h"
#include "tokenizer/word_mark.h"

#include <stdlib.h>
#include <string.h>

/* How a piece of the vocabulary becomes text. */
enum kind {
    KIND_MODEL,   /* the SentencePiece model knows the piece */
    KIND_FOREIGN, /* it does not know it: a piece of the other side's model in a joint vocabulary */
    KIND_SILENT, /* it does not know it, and the piece is a tag such as <pad> or >>deu<<: no text */
};

struct dg_tokenizer {
    /* NULL: pieces only */
    struct dg_spm *spm;
    struct dg_vocab vocab;
    /* -1 when there is none */
    int32_t unk;
    /* [dg_spm_size] the model's id -> the vocabulary's; unk where the vocabulary lacks the piece */
    int32_t *from_spm;
    /* [vocab.size] enum kind */
    uint8_t *kinds;
    struct dg_plain_text plain;
};

static bool is_tag(const char *piece)
{
    size_t n = strlen(piece);
    return (n > 2 && piece[0] == '<' && piece[n - 1] == '>') ||
           (n > 4 && strncmp(piece, ">>", 2) == 0 && strcmp(piece + n - 2, "<<") == 0);
}

static void find_unk(struct dg_tokenizer *t)
{
    static const char *const names[] = {"<unk>", "<UNK>", "[UNK]"};
    t->unk = -1;
    if (t->spm) {
        size_t n;
        const char *piece = dg_spm_piece(t->spm, dg_spm_unk(t->spm), &n);
        t->unk = dg_vocab_find(&t->vocab, piece, n);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names && t->unk < 0; i++)
        t->unk = dg_vocab_find(&t->vocab, names[i], strlen(names[i]));
}

/* Map the model's ids to the vocabulary's. DG_EFORMAT when they have too little in common. */
static int map_ids(struct dg_tokenizer *t, const char *spm, const char *vocab, struct dg_error *err)
{
    int32_t n_spm = dg_spm_size(t->spm), found = 0;
    t->from_spm = malloc((size_t)n_spm * sizeof *t->from_spm);
    if (!t->from_spm)
        return dg_error_set(err, DG_ENOMEM, "no memory for %d ids", n_spm);
    for (int32_t i = 0; i < n_spm; i++) {
        size_t n;
        const char *piece = dg_spm_piece(t->spm, i, &n);
        int32_t id = dg_vocab_find(&t->vocab, piece, n);
        t->from_spm[i] = id >= 0 ? id : t->unk;
        if (id >= 0) {
            t->kinds[id] = KIND_MODEL;
            found++;
        }
    }
    if (found < n_spm - n_spm / 2)
        return dg_error_set(
            err, DG_EFORMAT, "%s has only %d of the %d pieces of %s", vocab, found, n_spm, spm);
    return DG_OK;
}

int dg_tokenizer_open(
    const char *spm, const char *vocab, struct dg_tokenizer **out, struct dg_error *err)
{
    struct dg_tokenizer *t = calloc(1, sizeof *t);
    if (!t)
        return dg_error_set(err, DG_ENOMEM, "no memory for a tokenizer");
    int rc = dg_vocab_open(vocab, &t->vocab, err);
    if (rc != DG_OK)
        goto out;
    t->kinds = malloc(t->vocab.size);
    if (!t->kinds) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %u pieces", t->vocab.size);
        goto out;
    }
    for (uint32_t i = 0; i < t->vocab.size; i++)
        t->kinds[i] = is_tag(t->vocab.pieces[i]) ? KIND_SILENT : KIND_FOREIGN;
    if (spm && spm[0] != '\0') {
        rc = dg_spm_open(spm, &t->spm, err);
        if (rc != DG_OK)
            goto out;
    }
    find_unk(t);
    if (t->spm)
        rc = map_ids(t, spm, vocab, err);
    if (t->spm && rc == DG_OK)
        rc = dg_plain_text_open(&t->plain, t->spm, &t->vocab, t->from_spm, err);
out:
    if (rc != DG_OK)
        dg_tokenizer_close(t);
    else
        *out = t;
    return rc;
}

void dg_tokenizer_close(struct dg_tokenizer *t)
{
    if (!t)
        return;
    dg_spm_close(t->spm);
    dg_plain_text_deinit(&t->plain);
    dg_vocab_deinit(&t->vocab);
    free(t->from_spm);
    free(t->kinds);
    free(t);
}

bool dg_tokenizer_has_text(const struct dg_tokenizer *t)
{
    return t->spm != NULL;
}

uint32_t dg_tokenizer_size(const struct dg_tokenizer *t)
{
    return t->vocab.size;
}

int32_t dg_tokenizer_id(const struct dg_tokenizer *t, const char *piece)
{
    int32_t id = dg_vocab_find(&t->vocab, piece, strlen(piece));
    return id >= 0 ? id : t->unk;
}

bool dg_tokenizer_has_piece(const struct dg_tokenizer *t, const char *piece)
{
    return dg_vocab_find(&t->vocab, piece, strlen(piece)) >= 0;
}

const char *dg_tokenizer_piece(const struct dg_tokenizer *t, int32_t id)
{
    return id >= 0 && (uint32_t)id < t->vocab.size ? t->vocab.pieces[id] : "";
}

int32_t dg_tokenizer_unk(const struct dg_tokenizer *t)
{
    return t->unk;
}

void dg_tokenizer_bytes(const struct dg_tokenizer *t, int32_t id[256])
{
    memset(id, 0xff, 256 * sizeof *id); /* -1 */
    for (int32_t i = 0; t->spm && i < dg_spm_size(t->spm); i++) {
        const int byte = dg_spm_byte(t->spm, i);
        if (byte >= 0 && t->from_spm[i] != t->unk)
            id[byte] = t->from_spm[i];
    }
}

int dg_tokenizer_encode(const struct dg_tokenizer *t, const char *text, size_t n,
    struct dg_token **tokens, size_t *count, struct dg_error *err)
{
    struct dg_spm_token *raw = NULL;
    struct dg_token *ours = NULL;
    size_t size = 0;
    if (!t->spm)
        return dg_error_set(
            err, DG_EUNSUP, "this vocabulary has no SentencePiece model: pieces only");
    int rc = dg_spm_encode(t->spm, text, n, &raw, &size, err);
    if (rc != DG_OK)
        goto out;
    ours = malloc((size ? size : 1) * sizeof *ours);
    if (!ours) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu pieces", size);
        goto out;
    }
    for (size_t i = 0; i < size; i++) {
        int32_t id = t->from_spm[raw[i].id];
        /* A character that this model lacks may be in a joint vocabulary; look it up, as Marian
         * does. Only a single code point: a longer run typed by a user must never become a tag such
         * as </s>. */
        if (raw[i].single[0] != '\0') {
            int32_t direct = dg_vocab_find(&t->vocab, raw[i].single, strlen(raw[i].single));
            id = direct >= 0 ? direct : id;
        }
        if (id < 0) {
            rc = dg_error_set(err, DG_EUNSUP,
                "bytes %u to %u are not in the vocabulary, which has no unknown piece",
                raw[i].begin, raw[i].end);
            goto out;
        }
        ours[i] = (struct dg_token){.id = id, .begin = raw[i].begin, .end = raw[i].end};
    }
    *tokens = ours;
    *count = size;
    ours = NULL;
out:
    free(ours);
    free(raw);
    return rc;
}

/* Turn the word marks of foreign pieces in the text into spaces, as for the model's own pieces, and
 * adjust ends[count]. */
static int unmark_foreign(const struct dg_tokenizer *t, const int32_t *ids, size_t count,
    uint32_t *ends, char **text, size_t *len, struct dg_error *err)
{
    struct dg_buffer b;
    uint32_t begin = 0;
    dg_buffer_init(&b);
    for (size_t i = 0; i < count; i++) {
        const char *s = *text + begin, *end = *text + ends[i];
        begin = ends[i];
        while (s < end && t->kinds[ids[i]] == KIND_FOREIGN && ids[i] != t->unk) {
            const size_t mark = dg_word_mark(s);
            if (!mark)
                dg_buffer_add(&b, s, 1);
            else if (b.len > 0)
                dg_buffer_add(&b, " ", 1);
            s += mark ? mark : 1;
        }
        dg_buffer_add(&b, s, (size_t)(end - s));
        ends[i] = (uint32_t)b.len;
    }
    size_t n = 0;
    char *out = dg_buffer_take(&b, &n);
    if (!out)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu bytes of text", *len);
    free(*text);
    *text = out;
    *len = n;
    return DG_OK;
}

int dg_tokenizer_decode(const struct dg_tokenizer *t, const int32_t *ids, size_t count, char **text,
    size_t *len, struct dg_token *spans, struct dg_error *err)
{
    char *s = NULL;
    bool foreign = false;
    if (!t->spm)
        return dg_error_set(
            err, DG_EUNSUP, "this vocabulary has no SentencePiece model: pieces only");
    const char **pieces = calloc(count ? count : 1, sizeof *pieces);
    uint32_t *ends = calloc(count ? count : 1, sizeof *ends);
    int rc = DG_OK;
    if (!pieces || !ends) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu pieces", count);
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        if (ids[i] < 0 || (uint32_t)ids[i] >= t->vocab.size) {
            rc = dg_error_set(
                err, DG_EINVAL, "id %d is outside the vocabulary of %u", ids[i], t->vocab.size);
            goto out;
        }
        enum kind kind = t->kinds[ids[i]];
        foreign = foreign || (kind == KIND_FOREIGN && ids[i] != t->unk);
        pieces[i] = kind == KIND_SILENT ? "" : t->vocab.pieces[ids[i]];
        if (ids[i] == t->unk) { /* the model may spell it differently */
            size_t n;
            pieces[i] = dg_spm_piece(t->spm, dg_spm_unk(t->spm), &n);
        }
    }
    if (!dg_plain_text_decode(&t->plain, &t->vocab, ids, count, &s, len, ends))
        rc = dg_spm_decode(t->spm, pieces, count, &s, len, ends, err);
    if (rc == DG_OK && foreign)
        rc = unmark_foreign(t, ids, count, ends, &s, len, err);
    if (rc != DG_OK)
        goto out;
    for (size_t i = 0; spans && i < count; i++)
        spans[i] = (struct dg_token){.id = ids[i], .begin = i ? ends[i - 1] : 0, .end = ends[i]};
    *text = s;
    s = NULL;
out:
    free(s);
    free(ends);
    free(pieces);
    return rc;
}

int dg_tokenizer_write_vocab(const char *spm, const char *path, struct dg_error *err)
{
    struct dg_spm *model = NULL;
    struct dg_buffer b;
    dg_buffer_init(&b);
    int rc = dg_spm_open(spm, &model, err);
    if (rc != DG_OK)
        goto out;
    for (int32_t id = 0; id < dg_spm_size(model); id++) {
        size_t n;
        const char *piece = dg_spm_piece(model, id, &n);
        if (n == 0 || memchr(piece, '\0', n) || memchr(piece, '\n', n)) {
            rc = dg_error_set(err, DG_EUNSUP,
                "%s: piece %d is empty or holds a newline or NUL: no line can hold it", spm, id);
            goto out;
        }
        dg_buffer_add(&b, piece, n);
        dg_buffer_add(&b, "\n", 1);
    }
    if (b.failed)
        rc = dg_error_set(err, DG_ENOMEM, "%s: no memory for its pieces", spm);
    else
        rc = dg_file_write(path, b.data, b.len, err);
out:
    dg_buffer_deinit(&b);
    dg_spm_close(model);
    return rc;
}
