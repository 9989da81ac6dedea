#include "trainer/run/checkpoint.h"

#include "base/alloc.h"
#include "trainer/data/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "DGCKPT01"

enum { ALIGN = 64, N_BLOCKS = 4 };

/* The first 64 bytes. */
struct head {
    char magic[8];
    uint64_t header_bytes, header_hash;
    uint64_t zeros[5];
};

static const char *const block_names[N_BLOCKS] = {"params", "m", "v", "ema"};

static size_t padded(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static void list_blocks(const struct dg_checkpoint_blocks *b, const float *out[N_BLOCKS])
{
    out[0] = b->params;
    out[1] = b->m;
    out[2] = b->v;
    out[3] = b->ema;
}

static struct dg_json *make_header(
    const struct dg_checkpoint_state *s, const struct dg_checkpoint_blocks *b)
{
    struct dg_json *o = dg_json_new_object(), *sums = dg_json_new_object();
    const float *blocks[N_BLOCKS];
    list_blocks(b, blocks);
    for (int i = 0; i < N_BLOCKS; i++) {
        char hex[17];
        if (!blocks[i])
            continue;
        snprintf(hex, sizeof hex, "%016" PRIx64, dg_hash64(blocks[i], b->n * sizeof(float)));
        dg_json_set_string(sums, block_names[i], hex);
    }
    dg_json_set_int(o, "step", (int64_t)s->step);
    dg_json_set_int(o, "epoch", (int64_t)s->position.epoch);
    dg_json_set_int(o, "cursor", (int64_t)s->position.cursor);
    dg_json_set_int(o, "batch", (int64_t)s->position.batch);
    if (s->position.stage)
        dg_json_set_int(o, "stage", (int64_t)s->position.stage);
    dg_json_set_int(o, "micro_tokens", (int64_t)s->micro_tokens);
    dg_json_set_int(o, "threads", (int64_t)s->threads);
    dg_json_set_string(o, "backend", s->backend);
    dg_json_set_string(o, "data", s->data);
    dg_json_set_int(o, "epoch_tokens", (int64_t)s->epoch_tokens);
    dg_json_set_real(o, "seconds", s->seconds);
    dg_json_set_int(o, "elements", (int64_t)b->n);
    dg_json_set_take(o, "xxh3", sums);
    dg_json_set_take(o, "recipe", dg_json_copy(s->recipe));
    return o;
}

static int append_padded(struct dg_file_writer *w, const void *data, size_t n, struct dg_error *err)
{
    static const char zeros[ALIGN];
    int rc = dg_file_append(w, data, n, err);
    return rc ? rc : dg_file_append(w, zeros, padded(n) - n, err);
}

static int append_all(struct dg_file_writer *w, const struct dg_buffer *header,
    const struct dg_checkpoint_blocks *b, struct dg_error *err)
{
    const float *blocks[N_BLOCKS];
    struct head head = {
        .header_bytes = header->len, .header_hash = dg_hash64(header->data, header->len)};
    memcpy(head.magic, MAGIC, sizeof head.magic);
    int rc = append_padded(w, &head, sizeof head, err);
    if (!rc)
        rc = append_padded(w, header->data, header->len, err);
    list_blocks(b, blocks);
    for (int i = 0; i < N_BLOCKS && !rc; i++)
        if (blocks[i])
            rc = append_padded(w, blocks[i], b->n * sizeof(float), err);
    return rc;
}

int dg_checkpoint_write(const char *path, const struct dg_checkpoint_state *s,
    const struct dg_checkpoint_blocks *b, struct dg_error *err)
{
    struct dg_file_writer *w = NULL;
    struct dg_buffer text;
    dg_buffer_init(&text);
    struct dg_json *header = make_header(s, b);
    int rc = 0;
    if (!header || dg_json_write(header, 0, &text) || text.failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a checkpoint's header");
    if (!rc)
        rc = dg_file_begin(path, &w, err);
    if (!rc)
        rc = append_all(w, &text, b, err);
    if (!rc) {
        rc = dg_file_commit_take(w, err);
        w = NULL;
    }
    dg_file_abort(w);
    dg_json_free(header);
    dg_buffer_deinit(&text);
    return rc;
}

static int read_state(struct dg_checkpoint *c, struct dg_error *err)
{
    const struct dg_json *h = c->header;
    int64_t step = -1, epoch = -1, cursor = -1, batch = -1, micro = -1, threads = -1, tokens = -1,
            elements = -1, stage = 0; /* absent: the first stage */
    struct dg_checkpoint_state *s = &c->state;
    int rc = dg_json_field_int(h, NULL, "step", 0, INT64_MAX, &step, err);
    rc = rc ? rc : dg_json_field_int(h, NULL, "epoch", 0, INT64_MAX, &epoch, err);
    rc = rc ? rc : dg_json_field_int(h, NULL, "cursor", 0, INT64_MAX, &cursor, err);
    rc = rc ? rc : dg_json_field_int(h, NULL, "batch", 0, INT64_MAX, &batch, err);
    rc = rc ? rc : dg_json_field_int(h, NULL, "stage", 0, INT64_MAX, &stage, err);
    rc = rc ? rc : dg_json_field_int(h, NULL, "micro_tokens", 0, INT64_MAX, &micro, err);
    rc = rc ? rc : dg_json_field_int(h, NULL, "threads", 1, INT64_MAX, &threads, err);
    rc = rc ? rc : dg_json_field_int(h, NULL, "epoch_tokens", 0, INT64_MAX, &tokens, err);
    rc = rc ? rc : dg_json_field_int(h, NULL, "elements", 1, (int64_t)1 << 40, &elements, err);
    rc = rc ? rc : dg_json_field_string(h, NULL, "backend", &s->backend, err);
    rc = rc ? rc : dg_json_field_string(h, NULL, "data", &s->data, err);
    rc = rc ? rc : dg_json_field_number(h, NULL, "seconds", 0, 1e18, &s->seconds, err);
    s->recipe = dg_json_get(h, "recipe");
    if (!rc && (step < 0 || epoch < 0 || cursor < 0 || batch < 0 || micro < 0 || threads < 0 ||
                   tokens < 0 || elements < 0 || !s->backend || !s->data ||
                   dg_json_typeof(s->recipe) != DG_JSON_OBJECT))
        rc = dg_error_set(err, DG_EFORMAT, "a field of the header is missing");
    if (rc)
        return rc;
    s->step = (uint64_t)step;
    s->position = (struct dg_dataset_position){
        (uint64_t)epoch, (uint64_t)cursor, (uint64_t)batch, (uint64_t)stage};
    s->micro_tokens = (uint64_t)micro;
    s->threads = (uint64_t)threads;
    s->epoch_tokens = (uint64_t)tokens;
    c->blocks.n = (size_t)elements;
    return 0;
}

/* Find and verify the blocks that the header's checksums name, in order, from offset `at`. They
 * must fill the rest of the file exactly. */
static int read_blocks(struct dg_checkpoint *c, size_t at, struct dg_error *err)
{
    const struct dg_json *sums = dg_json_get(c->header, "xxh3");
    const float *found[N_BLOCKS] = {NULL};
    const size_t bytes = c->blocks.n * sizeof(float);
    for (int i = 0; i < N_BLOCKS; i++) {
        const char *want = dg_json_string(dg_json_get(sums, block_names[i]), NULL);
        char hex[17];
        if (!want && i < N_BLOCKS - 1)
            return dg_error_set(err, DG_EFORMAT, "block %s is missing", block_names[i]);
        if (!want)
            continue;
        if (at > c->map.size || padded(bytes) > c->map.size - at)
            return dg_error_set(err, DG_EFORMAT, "the file ends inside block %s: %zu bytes",
                block_names[i], c->map.size);
        found[i] = (const float *)(const void *)(c->map.data + at);
        snprintf(hex, sizeof hex, "%016" PRIx64, dg_hash64(found[i], bytes));
        if (strcmp(hex, want))
            return dg_error_set(
                err, DG_EFORMAT, "block %s has XXH3 %s, expected %s", block_names[i], hex, want);
        at += padded(bytes);
    }
    if (at != c->map.size)
        return dg_error_set(err, DG_EFORMAT, "%zu bytes too many", c->map.size - at);
    c->blocks = (struct dg_checkpoint_blocks){c->blocks.n, found[0], found[1], found[2], found[3]};
    return 0;
}

static int read_all(struct dg_checkpoint *c, struct dg_error *err)
{
    struct head head;
    if (c->map.size < sizeof head)
        return dg_error_set(err, DG_EFORMAT, "%zu bytes are no checkpoint", c->map.size);
    memcpy(&head, c->map.data, sizeof head);
    if (memcmp(head.magic, MAGIC, sizeof head.magic))
        return dg_error_set(err, DG_EFORMAT, "not a checkpoint");
    if (head.header_bytes > c->map.size - sizeof head)
        return dg_error_set(
            err, DG_EFORMAT, "the file ends inside the header: %zu bytes", c->map.size);
    const char *text = (const char *)c->map.data + sizeof head;
    if (dg_hash64(text, head.header_bytes) != head.header_hash)
        return dg_error_set(err, DG_EFORMAT, "the header's checksum is wrong");
    c->header = dg_json_parse(text, head.header_bytes, err);
    if (!c->header)
        return DG_EFORMAT;
    int rc = read_state(c, err);
    return rc ? rc : read_blocks(c, sizeof head + padded(head.header_bytes), err);
}

int dg_checkpoint_open(const char *path, struct dg_checkpoint **out, struct dg_error *err)
{
    struct dg_checkpoint *c = dg_alloc(1, sizeof *c, "a checkpoint");
    int rc = dg_file_map(path, &c->map, err);
    if (!rc && (rc = read_all(c, err)))
        dg_error_prefix(err, "%s", path);
    if (rc) {
        dg_checkpoint_close(c);
        return rc;
    }
    *out = c;
    return 0;
}

void dg_checkpoint_close(struct dg_checkpoint *c)
{
    if (!c)
        return;
    dg_json_free(c->header);
    dg_file_unmap(&c->map);
    free(c);
}
