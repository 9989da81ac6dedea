#include "tokenizer/vocab.h"

#include "base/buffer.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PIECES = 1 << 24 };

/* FNV-1a. */
static uint64_t hash(const char *s, size_t n)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * UINT64_C(1099511628211);
    return h ^ (h >> 32);
}

/* The slot that holds piece[n], or the free slot where it belongs. The table is never full. */
static uint32_t find_slot(const struct dg_vocab *v, const char *piece, size_t n)
{
    uint32_t mask = v->n_slots - 1;
    uint32_t i = (uint32_t)hash(piece, n) & mask;
    for (; v->slots[i] >= 0; i = (i + 1) & mask) {
        const char *other = v->pieces[v->slots[i]];
        if (strncmp(other, piece, n) == 0 && other[n] == '\0')
            break;
    }
    return i;
}

static int index_pieces(struct dg_vocab *v, const char *path, struct dg_error *err)
{
    char *piece = v->bytes;
    for (uint32_t id = 0; id < v->size; id++) {
        size_t n = strlen(piece);
        if (n == 0)
            return dg_error_set(err, DG_EFORMAT, "%s: line %u is empty", path, id + 1);
        uint32_t slot = find_slot(v, piece, n);
        if (v->slots[slot] >= 0)
            return dg_error_set(err, DG_EFORMAT,
                "%s: piece \"%.100s\" is on line %d and on line %u", path, piece,
                v->slots[slot] + 1, id + 1);
        v->pieces[id] = piece;
        v->slots[slot] = (int32_t)id;
        piece += n + 1;
    }
    return DG_OK;
}

/* Replace newlines by NULs, which end the pieces, and set the size. */
static int cut_lines(struct dg_vocab *v, size_t len, const char *path, struct dg_error *err)
{
    size_t lines = 0;
    for (size_t i = 0; i < len; i++) {
        if (v->bytes[i] == '\0')
            return dg_error_set(err, DG_EFORMAT, "%s: NUL on line %zu", path, lines + 1);
        if (v->bytes[i] == '\n') {
            v->bytes[i] = '\0';
            lines++;
        }
    }
    lines += len > 0 && v->bytes[len - 1] != '\0'; /* the last line may lack its newline */
    if (lines == 0 || lines > MAX_PIECES)
        return dg_error_set(
            err, DG_EFORMAT, "%s: %zu pieces, expected 1 to %d", path, lines, (int)MAX_PIECES);
    v->size = (uint32_t)lines;
    return DG_OK;
}

int dg_vocab_open(const char *path, struct dg_vocab *out, struct dg_error *err)
{
    struct dg_vocab v = {0};
    struct dg_buffer b;
    size_t len = 0;
    dg_buffer_init(&b);
    int rc = dg_file_read(path, &b, err);
    if (rc != DG_OK)
        goto out;
    v.bytes = dg_buffer_take(&b, &len);
    if (!v.bytes) {
        rc = dg_error_set(err, DG_ENOMEM, "%s: no memory", path);
        goto out;
    }
    rc = cut_lines(&v, len, path, err);
    if (rc != DG_OK)
        goto out;
    for (v.n_slots = 16; v.n_slots < 2 * v.size;)
        v.n_slots *= 2;
    v.pieces = calloc(v.size, sizeof *v.pieces);
    v.slots = malloc(v.n_slots * sizeof *v.slots);
    if (!v.pieces || !v.slots) {
        rc = dg_error_set(err, DG_ENOMEM, "%s: no memory for %u pieces", path, v.size);
        goto out;
    }
    memset(v.slots, 0xFF, v.n_slots * sizeof *v.slots);
    rc = index_pieces(&v, path, err);
out:
    dg_buffer_deinit(&b);
    if (rc != DG_OK)
        dg_vocab_deinit(&v);
    else
        *out = v;
    return rc;
}

void dg_vocab_deinit(struct dg_vocab *v)
{
    free(v->bytes);
    free(v->pieces);
    free(v->slots);
    *v = (struct dg_vocab){0};
}

int32_t dg_vocab_find(const struct dg_vocab *v, const char *piece, size_t n)
{
    return v->n_slots ? v->slots[find_slot(v, piece, n)] : -1;
}
