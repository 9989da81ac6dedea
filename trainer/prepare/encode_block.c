#include "trainer/prepare/encode_block.h"

#include "base/alloc.h"
#include "trainer/data/reserved.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_PAIRS = 8192, TASKS = BLOCK_PAIRS / DG_ENCODE_TASK_PAIRS };
#define BLOCK_BYTES ((size_t)4 << 20)

/* reserved: ids of the pieces that bytes of the text stand for; NULL: every byte is text. */
static int encode_side(struct dg_encode_block *b, struct dg_encode_task *t,
    struct dg_encode_side *s, const struct dg_tokenizer *tokenizer, const int32_t *reserved)
{
    struct dg_token *tokens = NULL, masks[DG_MAX_RESERVED];
    size_t n = 0, n_masks = 0;
    const char *text = b->text.data ? b->text.data + s->text : "";
    for (size_t i = 0; reserved && i < s->len && n_masks < DG_MAX_RESERVED; i++)
        if (dg_reserved_is(text[i]))
            masks[n_masks++] = (struct dg_token){
                reserved[text[i] - DG_RESERVED_FIRST], (uint32_t)i, (uint32_t)i + 1};
    int rc = dg_tokenizer_encode_spans(
        tokenizer, text, s->len, &(struct dg_token_spans){masks, n_masks}, &tokens, &n, &t->err);
    if (rc == 0) {
        t->ids = dg_alloc_grow(t->ids, t->n + n + 3, &t->cap, sizeof *t->ids, "ids");
        s->ids = t->n;
        s->n = n + 1 + s->back_translated;
        t->ids[t->n++] = -1; /* slot for the tag */
        if (s->back_translated)
            t->ids[t->n++] = b->job->vocabulary->back_translated;
        for (size_t i = 0; i < n; i++)
            t->ids[t->n++] = tokens[i].id;
        t->ids[t->n++] = b->job->vocabulary->eos;
    }
    free(tokens);
    return rc;
}

static void run_task(void *arg, size_t i)
{
    struct dg_encode_block *b = arg;
    struct dg_encode_task *t = &b->tasks[i];
    const struct dg_vocabulary *v = b->job->vocabulary;
    size_t end = (i + 1) * DG_ENCODE_TASK_PAIRS < b->n ? (i + 1) * DG_ENCODE_TASK_PAIRS : b->n;
    t->n = 0;
    for (size_t k = i * DG_ENCODE_TASK_PAIRS; k < end; k++) {
        struct dg_encoded_pair *p = &b->pairs[k];
        const bool masked = p->pair.masked;
        if (encode_side(b, t, &p->sides[0], v->source, masked ? v->reserved[0] : NULL) ||
            encode_side(b, t, &p->sides[1], v->target, masked ? v->reserved[1] : NULL))
            return;
    }
}

void dg_encode_block_init(struct dg_encode_block *b, struct dg_prepare_job *j)
{
    memset(b, 0, sizeof *b);
    b->job = j;
    dg_buffer_init(&b->text);
    b->pairs = dg_alloc(BLOCK_PAIRS, sizeof *b->pairs, "a block of pairs");
    b->tasks = dg_alloc(TASKS, sizeof *b->tasks, "a block of pairs");
}

void dg_encode_block_deinit(struct dg_encode_block *b)
{
    for (size_t i = 0; b->tasks && i < TASKS; i++)
        free(b->tasks[i].ids);
    free(b->tasks);
    free(b->pairs);
    dg_buffer_deinit(&b->text);
}

/* Appends a side to the block's text. */
static void add_side(struct dg_encode_block *b, struct dg_encode_side *s, const char *text,
    size_t len, bool back_translated)
{
    *s = (struct dg_encode_side){
        .text = b->text.len, .len = len, .back_translated = back_translated};
    dg_buffer_add(&b->text, text, len);
}

void dg_encode_block_add(struct dg_encode_block *b, const struct dg_pair *p)
{
    struct dg_encoded_pair *e = &b->pairs[b->n++];
    const bool source = p->back_translated == DG_BACK_TRANSLATED_SOURCE,
               target = p->back_translated == DG_BACK_TRANSLATED_TARGET;
    e->pair = *p;
    e->variant = false;
    /* A side that a model made is no target: no model learns to write like another one. */
    e->left_out[0] = target;
    e->left_out[1] = source;
    add_side(b, &e->sides[0], p->source, p->source_len, source);
    add_side(b, &e->sides[1], p->target, p->target_len, target);
    dg_alloc_check(!b->text.failed, "a block of pairs");
}

bool dg_encode_block_is_full(const struct dg_encode_block *b)
{
    return b->n == BLOCK_PAIRS || b->text.len >= BLOCK_BYTES;
}

void dg_encode_block_run(struct dg_encode_block *b)
{
    dg_pool_run(
        b->job->pool, (b->n + DG_ENCODE_TASK_PAIRS - 1) / DG_ENCODE_TASK_PAIRS, run_task, b);
}

void dg_encode_block_reset(struct dg_encode_block *b)
{
    b->n = 0;
    dg_buffer_reset(&b->text);
}
