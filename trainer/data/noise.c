#include "trainer/data/noise.h"

#include "base/alloc.h"
#include "trainer/data/prepared.h"
#include "trainer/data/reserved.h"
#include "trainer/data/typing.h"

#include <stdlib.h>
#include <string.h>

struct dg_noise {
    const struct dg_recipe_noise *how;
    struct dg_tokenizer *tokenizer;
    /* [V] true for control pieces, which no text produces */
    bool *control;
    /* ids of the reserved pieces; -1: the vocabulary has none */
    int32_t reserved[DG_MAX_RESERVED];
    struct dg_buffer plain, typed;
    /* [cap] text span of each id of a sentence */
    struct dg_token *spans;
    size_t cap;
};

/* Marks the control pieces ("</s>", "<2de>" and the like, but not "<0x41>") and looks up the
 * reserved pieces. */
static void find_control(struct dg_noise *z)
{
    int32_t bytes[256];
    const uint32_t V = dg_tokenizer_size(z->tokenizer);
    z->control = dg_alloc(V, sizeof *z->control, "a vocabulary");
    for (uint32_t i = 0; i < V; i++) {
        const char *piece = dg_tokenizer_piece(z->tokenizer, (int32_t)i);
        const size_t n = strlen(piece);
        z->control[i] = n > 2 && piece[0] == '<' && piece[n - 1] == '>';
    }
    dg_tokenizer_bytes(z->tokenizer, bytes);
    for (int i = 0; i < 256; i++)
        if (bytes[i] >= 0)
            z->control[bytes[i]] = false;
    for (int64_t i = 0; i < DG_MAX_RESERVED; i++) {
        char name[DG_RESERVED_NAME];
        dg_reserved_name(i, name);
        z->reserved[i] =
            dg_tokenizer_has_piece(z->tokenizer, name) ? dg_tokenizer_id(z->tokenizer, name) : -1;
    }
}

int dg_noise_open(const char *prepared_dir, const struct dg_recipe_noise *how,
    struct dg_noise **out, struct dg_error *err)
{
    struct dg_noise *z = dg_alloc(1, sizeof *z, "noise");
    z->how = how;
    dg_buffer_init(&z->plain);
    dg_buffer_init(&z->typed);
    *out = NULL;
    int rc = dg_prepared_tokenizer(prepared_dir, "source", &z->tokenizer, err);
    if (rc) {
        dg_noise_close(z);
        return rc;
    }
    find_control(z);
    *out = z;
    return 0;
}

void dg_noise_close(struct dg_noise *z)
{
    if (!z)
        return;
    dg_tokenizer_close(z->tokenizer);
    dg_buffer_deinit(&z->plain);
    dg_buffer_deinit(&z->typed);
    free(z->control);
    free(z->spans);
    free(z);
}

/* Returns the index of the reserved piece with this id; -1: it is none. */
static int reserved_of(const struct dg_noise *z, int32_t id)
{
    for (int i = 0; i < DG_MAX_RESERVED; i++)
        if (z->reserved[i] == id)
            return i;
    return -1;
}

/* Decodes ids[n] into z->plain, reserved pieces as the bytes that stand for them in training text.
 * False if the ids cannot be read as text. */
static bool read_text(struct dg_noise *z, const int32_t *ids, size_t n)
{
    char *text = NULL;
    size_t len = 0, done = 0;
    if (n > z->cap) {
        z->cap = 2 * n;
        z->spans = dg_alloc_more(z->spans, z->cap, sizeof *z->spans, "a sentence");
    }
    for (size_t i = 0; i < n; i++)
        if (ids[i] == dg_tokenizer_unk(z->tokenizer) || z->control[ids[i]])
            return false;
    if (dg_tokenizer_decode(z->tokenizer, ids, n, &text, &len, z->spans, NULL))
        return false;
    dg_buffer_reset(&z->plain);
    for (size_t i = 0; i < n; i++) {
        const int which = reserved_of(z, ids[i]);
        if (which < 0)
            continue;
        const char byte = (char)(DG_RESERVED_FIRST + which);
        dg_buffer_add(&z->plain, text + done, z->spans[i].begin - done);
        dg_buffer_add(&z->plain, &byte, 1);
        done = z->spans[i].end;
    }
    dg_buffer_add(&z->plain, text + done, len - done);
    dg_alloc_check(!z->plain.failed, "a sentence");
    free(text);
    return z->plain.len > 0;
}

/* Encodes z->typed to out + at and returns the number of ids; 0: it cannot be encoded, or leaves no
 * room for one more id. */
static size_t encode(struct dg_noise *z, int32_t *out, size_t at, size_t room)
{
    struct dg_token masks[DG_MAX_RESERVED], *tokens = NULL;
    size_t n_masks = 0, n = 0;
    for (size_t i = 0; i < z->typed.len; i++)
        if (dg_reserved_is(z->typed.data[i])) {
            if (n_masks == DG_MAX_RESERVED)
                return 0;
            masks[n_masks++] = (struct dg_token){
                z->reserved[z->typed.data[i] - DG_RESERVED_FIRST], (uint32_t)i, (uint32_t)i + 1};
        }
    if (dg_tokenizer_encode_spans(z->tokenizer, z->typed.data, z->typed.len,
            &(struct dg_token_spans){masks, n_masks}, &tokens, &n, NULL))
        return 0;
    const bool fits = at + n + 1 <= room;
    for (size_t i = 0; i < n && fits; i++)
        out[at + i] = tokens[i].id;
    free(tokens);
    return fits ? n : 0;
}

size_t dg_noise_add(struct dg_noise *z, const char *language, const int32_t *ids, size_t n,
    uint64_t key, int32_t *out, size_t room)
{
    size_t lead = 0, made = 0;
    memcpy(out, ids, n * sizeof *out);
    while (lead + 1 < n && z->control[ids[lead]])
        lead++;
    if (lead + 1 >= n || !read_text(z, ids + lead, n - lead - 1))
        return n;
    dg_buffer_reset(&z->typed);
    if (dg_typing(z->how, language, z->plain.data, z->plain.len, key, &z->typed, NULL) ||
        !z->typed.len ||
        (z->typed.len == z->plain.len && !memcmp(z->typed.data, z->plain.data, z->plain.len)))
        return n;
    made = encode(z, out, lead, room);
    if (!made) /* out still holds ids */
        return n;
    out[lead + made] = ids[n - 1];
    return lead + made + 1;
}
