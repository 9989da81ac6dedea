/* DESIGN. As in prepare_clean.c: blocks read by the caller, encoded in parallel, written in order
 * by the caller. A pair is encoded once; both directions of it are cut out of the same ids: [tag]
 * source </s> and [tag] target </s>. */
#include "trainer/prepare/prepare_internal.h"

#include "base/file.h"
#include "trainer/data/corpus.h"
#include "trainer/data/reserved.h"
#include "trainer/data/shard.h"
#include "trainer/align/masks.h"
#include "trainer/align/variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_PAIRS = 8192, TASK_PAIRS = 64, TASKS = BLOCK_PAIRS / TASK_PAIRS };
#define BLOCK_BYTES ((size_t)4 << 20)
#define SHARD_TOKENS (UINT64_C(64) << 20)

struct side {
    size_t text, len; /* bytes in block.text */
    size_t ids, n;    /* in the task's ids: room for a tag at ids, then n ids, the last </s> */
};

struct encoded {
    struct side sides[2]; /* source and target of the recipe's pair */
    struct dg_pair pair;
    bool variant;     /* another form of a pair: not counted */
    bool left_out[2]; /* there, back: not for that direction */
};

struct task {
    int32_t *ids;
    size_t n, cap;
    struct dg_error err;
};

struct block {
    struct dg_prepare_job *job;
    struct dg_buffer text;
    struct encoded *pairs; /* [BLOCK_PAIRS] */
    struct task *tasks;    /* [TASKS] */
    size_t n;
    uint64_t item; /* of j->pairs, read so far */
};

/* The shards of one set. */
struct set {
    const char *name;
    bool keep_all; /* no filter by pieces (but the model's limit) */
    struct dg_shard_writer *shard;
    char file[64];
    struct dg_json *list;
    unsigned n_shards;
    uint64_t left_out; /* with keep_all: pairs over the model's limit, not in the shards */
    uint32_t longest;  /* with keep_all: most pieces of a side, those pairs too */
};

static int room(struct task *t, size_t n)
{
    if (t->n + n <= t->cap)
        return 0;
    size_t cap = 2 * (t->n + n);
    int32_t *p = realloc(t->ids, cap * sizeof *p);
    if (!p)
        return dg_error_set(&t->err, DG_ENOMEM, "no memory for %zu ids", cap);
    t->ids = p;
    t->cap = cap;
    return 0;
}

static int encode_side(struct block *b, struct task *t, struct side *s,
    const struct dg_tokenizer *tokenizer, const int32_t *reserved)
{
    struct dg_token *tokens = NULL, masks[DG_MAX_RESERVED];
    size_t n = 0, n_masks = 0;
    const char *text = b->text.data ? b->text.data + s->text : "";
    for (size_t i = 0; i < s->len; i++)
        if (dg_reserved_is(text[i]))
            masks[n_masks++] = (struct dg_token){
                reserved[text[i] - DG_RESERVED_FIRST], (uint32_t)i, (uint32_t)i + 1};
    int rc =
        dg_tokenizer_encode_spans(tokenizer, text, s->len, masks, n_masks, &tokens, &n, &t->err);
    if (rc == 0)
        rc = room(t, n + 2);
    if (rc == 0) {
        s->ids = t->n;
        s->n = n + 1;
        t->ids[t->n++] = -1; /* the tag's place */
        for (size_t i = 0; i < n; i++)
            t->ids[t->n++] = tokens[i].id;
        t->ids[t->n++] = b->job->vocabulary->eos;
    }
    free(tokens);
    return rc;
}

static void run_task(void *arg, size_t i)
{
    struct block *b = arg;
    struct task *t = &b->tasks[i];
    const struct dg_vocabulary *v = b->job->vocabulary;
    size_t end = (i + 1) * TASK_PAIRS < b->n ? (i + 1) * TASK_PAIRS : b->n;
    t->n = 0;
    for (size_t k = i * TASK_PAIRS; k < end; k++)
        if (encode_side(b, t, &b->pairs[k].sides[0], v->source, v->reserved[0]) ||
            encode_side(b, t, &b->pairs[k].sides[1], v->target, v->reserved[1]))
            return;
}

static int block_init(struct block *b, struct dg_prepare_job *j, struct dg_error *err)
{
    memset(b, 0, sizeof *b);
    b->job = j;
    dg_buffer_init(&b->text);
    b->pairs = calloc(BLOCK_PAIRS, sizeof *b->pairs);
    b->tasks = calloc(TASKS, sizeof *b->tasks);
    return b->pairs && b->tasks
               ? 0
               : dg_error_set(err, DG_ENOMEM, "no memory for a block of %d pairs", BLOCK_PAIRS);
}

static void block_deinit(struct block *b)
{
    for (size_t i = 0; b->tasks && i < TASKS; i++)
        free(b->tasks[i].ids);
    free(b->tasks);
    free(b->pairs);
    dg_buffer_deinit(&b->text);
}

static int block_add(struct block *b, const struct dg_pair *p, struct dg_error *err)
{
    struct encoded *e = &b->pairs[b->n++];
    e->pair = *p;
    e->variant = e->left_out[0] = e->left_out[1] = false;
    e->sides[0] = (struct side){.text = b->text.len, .len = p->source_len};
    dg_buffer_add(&b->text, p->source, p->source_len);
    e->sides[1] = (struct side){.text = b->text.len, .len = p->target_len};
    dg_buffer_add(&b->text, p->target, p->target_len);
    return b->text.failed ? dg_error_set(err, DG_ENOMEM, "no memory for a block of pairs") : 0;
}

static bool block_full(const struct block *b)
{
    return b->n == BLOCK_PAIRS || b->text.len >= BLOCK_BYTES;
}

static int close_shard(struct set *s, struct dg_error *err)
{
    struct dg_shard_info info;
    struct dg_json *o;
    char hex[20];
    if (!s->shard)
        return 0;
    int rc = dg_shard_commit_take(s->shard, &info, err);
    s->shard = NULL;
    if (rc)
        return rc;
    o = dg_json_new_object();
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)info.checksum);
    dg_json_set_string(o, "file", s->file);
    dg_json_set_int(o, "bytes", (int64_t)info.bytes);
    dg_json_set_int(o, "sentences", (int64_t)info.sentences);
    dg_json_set_int(o, "source_tokens", (int64_t)info.source_tokens);
    dg_json_set_int(o, "target_tokens", (int64_t)info.target_tokens);
    dg_json_set_string(o, "xxh3", hex);
    return dg_json_append_take(s->list, o)
               ? dg_error_set(err, DG_ENOMEM, "out of memory for the manifest")
               : 0;
}

static int open_shard(struct dg_prepare_job *j, struct set *s, struct dg_error *err)
{
    struct dg_buffer path;
    dg_buffer_init(&path);
    snprintf(s->file, sizeof s->file, "%s-%05u.shard", s->name, s->n_shards++);
    const char *full = dg_prepare_path(j, &path, s->file);
    int rc = full ? dg_shard_begin(full, dg_tokenizer_size(j->vocabulary->source),
                        dg_tokenizer_size(j->vocabulary->target), &s->shard, err)
                  : dg_error_set(err, DG_ENOMEM, "out of memory for paths");
    dg_buffer_deinit(&path);
    return rc;
}

/* One direction of an encoded pair into the set. */
static int write_direction(struct block *b, struct set *s, const struct encoded *e, struct task *t,
    size_t direction, struct dg_error *err)
{
    const struct dg_recipe_direction *d = &b->job->r->data.directions[direction];
    const struct side *from = &e->sides[d->reversed ? 1 : 0], *to = &e->sides[d->reversed ? 0 : 1];
    int32_t tag = b->job->vocabulary->tags[direction];
    t->ids[from->ids] = tag;
    struct dg_shard_entry entry = {0, (uint32_t)(from->n + (tag >= 0)), (uint32_t)to->n,
        e->pair.weight, (uint16_t)direction, (uint16_t)e->pair.domain};
    if (s->shard && dg_shard_tokens(s->shard) >= SHARD_TOKENS) {
        int rc = close_shard(s, err);
        if (rc)
            return rc;
    }
    if (!s->shard) {
        int rc = open_shard(b->job, s, err);
        if (rc)
            return rc;
    }
    return dg_shard_add(
        s->shard, &entry, t->ids + from->ids + (tag < 0), t->ids + to->ids + 1, err);
}

/* Length of the longer side as the model sees it, with a tag where the source has one. */
static uint32_t longer_side(const struct block *b, const struct encoded *e, size_t direction)
{
    const bool reversed = b->job->r->data.directions[direction].reversed;
    const size_t source = e->sides[reversed].n + (b->job->vocabulary->tags[direction] >= 0),
                 target = e->sides[!reversed].n;
    return (uint32_t)(source > target ? source : target);
}

/* A pair of a dev or test set. */
static void note_held_out(
    const struct block *b, struct set *s, const struct encoded *e, size_t direction, bool left_out)
{
    const uint32_t n = longer_side(b, e, direction);
    s->longest = n > s->longest ? n : s->longest;
    s->left_out += left_out;
}

/* Encode the block and write what fits; all directions of the pair, or one (only >= 0). */
static int flush_block(struct block *b, struct set *s, long only, struct dg_error *err)
{
    struct dg_prepare_job *j = b->job;
    int rc = 0;
    dg_pool_run(j->pool, (b->n + TASK_PAIRS - 1) / TASK_PAIRS, run_task, b);
    for (size_t k = 0; k < b->n && rc == 0; k++) {
        struct task *t = &b->tasks[k / TASK_PAIRS];
        const struct encoded *e = &b->pairs[k];
        if (t->err.code)
            return dg_error_set(err, t->err.code, "%s", t->err.message);
        enum dg_drop why = dg_clean_pieces(&j->r->cleaning, e->sides[0].n, e->sides[1].n);
        if (s->keep_all && why == DG_DROP_PIECE_RATIO)
            why = DG_KEEP;
        if (s->keep_all)
            note_held_out(b, s, e, (size_t)only, why != DG_KEEP);
        else if (!e->variant)
            j->counts[e->pair.file].by[why]++;
        if (why != DG_KEEP)
            continue;
        for (size_t d = 0; d < j->r->data.n_directions && rc == 0; d++)
            if ((only < 0 ? j->r->data.directions[d].pair == e->pair.pair : (size_t)only == d) &&
                !e->left_out[j->r->data.directions[d].reversed])
                rc = write_direction(b, s, e, t, d, err);
    }
    b->n = 0;
    dg_buffer_reset(&b->text);
    return rc;
}

static int add_set(
    struct dg_prepare_job *j, const struct set *s, struct dg_json *o, struct dg_error *err)
{
    dg_json_set_string(o, "name", s->name);
    dg_json_set_take(o, "shards", s->list);
    return dg_json_append_take(j->sets, o)
               ? dg_error_set(err, DG_ENOMEM, "out of memory for the manifest")
               : 0;
}

/* The pairs that forms and words come from are not, but they may be themselves. */
static bool is_held_out(const struct block *b, const struct dg_pair *p)
{
    return dg_prepare_held_out_as(b->job, p->source, p->source_len, p->target, p->target_len) !=
           DG_KEEP;
}

/* What makes further forms of a pair. */
struct forms {
    struct dg_variants variants;
    struct dg_masks *masks;
};

/* A form of a pair into the block, unless it is held out; made: what its maker returned. */
static int add_form(
    struct block *b, struct set *s, const struct dg_pair *form, int made, struct dg_error *err)
{
    if (made < 0)
        return made;
    if (made != 1 || is_held_out(b, form))
        return 0;
    int rc = block_full(b) ? flush_block(b, s, -1, err) : 0;
    if (!rc && !(rc = block_add(b, form, err)))
        b->pairs[b->n - 1].variant = true;
    return rc;
}

/* A pair and its further forms into the block; flushed when it may not hold the next ones. */
static int add_pair(
    struct block *b, struct set *s, struct forms *f, const struct dg_pair *p, struct dg_error *err)
{
    struct dg_pair form;
    int made, rc = block_add(b, p, err);
    for (int kind = 0; !rc && (made = dg_variants_make(&f->variants, p, b->item, kind, &form, err));
         kind++)
        rc = add_form(b, s, &form, made, err);
    for (int kind = DG_MASK_PIECES; !rc && kind <= DG_MASK_SIGNS; kind++) {
        made = dg_masks_make(f->masks, p, b->item, (enum dg_mask_kind)kind, &form, err);
        rc = add_form(b, s, &form, made, err);
    }
    return rc ? rc : dg_variants_next(&f->variants, p, err);
}

/* The words that were learned, each as a pair. */
static int add_dictionaries(struct block *b, struct set *s, struct dg_error *err)
{
    struct dg_prepare_job *j = b->job;
    struct dg_pair p = {.weight = (float)j->r->variants.words};
    if (j->r->variants.words <= 0)
        return 0;
    int rc = dg_prepare_domain(j, "words", strlen("words"), &p.domain, err);
    for (; p.pair < j->r->data.n_pairs && !rc; p.pair++)
        for (size_t i = 0; i < dg_dictionary_count(j->dictionaries[p.pair]) && !rc; i++) {
            const struct dg_dictionary_entry w = dg_dictionary_at(j->dictionaries[p.pair], i);
            p.source = w.source;
            p.source_len = w.source_len;
            p.target = w.target;
            p.target_len = w.target_len;
            if (is_held_out(b, &p))
                continue;
            if (block_full(b))
                rc = flush_block(b, s, -1, err);
            if (rc || (rc = block_add(b, &p, err)))
                break;
            struct encoded *e = &b->pairs[b->n - 1];
            e->variant = true;
            e->left_out[0] = !w.there;
            e->left_out[1] = !w.back;
        }
    return rc ? rc : flush_block(b, s, -1, err);
}

int dg_prepare_encode(struct dg_prepare_job *j, struct dg_error *err)
{
    struct block b;
    struct forms forms = {.masks = NULL};
    struct set s = {.name = "train", .list = dg_json_new_array()};
    struct dg_json *o = dg_json_new_object();
    struct dg_pair p;
    int got = 1, rc = block_init(&b, j, err);
    dg_variants_init(&forms.variants, j->r);
    if (rc == 0)
        rc = dg_masks_open(j->r, j->dictionaries, &forms.masks, err);
    if (rc == 0)
        rc = dg_pairs_rewind(j->pairs, err);
    while (rc == 0 && got > 0) {
        got = dg_pairs_next(j->pairs, &p, err);
        if (got < 0)
            rc = got;
        else if (got && j->dedup && dg_dedup_seen(j->dedup, b.item))
            j->counts[p.file].by[DG_DROP_DUPLICATE]++;
        else if (got)
            rc = add_pair(&b, &s, &forms, &p, err);
        b.item++;
        if (rc == 0 && (block_full(&b) || got == 0)) {
            rc = dg_prepare_check(j, err);
            if (rc == 0)
                rc = flush_block(&b, &s, -1, err);
            dg_progress_pairs(&j->progress, "encoding", b.item, dg_pairs_count(j->pairs));
        }
    }
    if (rc == 0)
        rc = add_dictionaries(&b, &s, err);
    if (rc == 0 && s.n_shards == 0)
        rc = dg_error_set(err, DG_EINVAL, "no training pair is left after cleaning");
    if (rc == 0)
        rc = close_shard(&s, err);
    dg_shard_abort(s.shard);
    dg_variants_deinit(&forms.variants);
    dg_masks_close(forms.masks);
    block_deinit(&b);
    if (rc == 0) {
        dg_json_set_string(o, "kind", "train");
        return add_set(j, &s, o, err);
    }
    dg_json_free(s.list);
    dg_json_free(o);
    return rc;
}

/* A dev or test set being made. */
struct held_set {
    struct block block;
    struct set set;
    size_t direction;
    struct dg_file_writer *texts[2]; /* source, target as the direction has them */
    uint64_t n, file_start;
};

/* The clean form of a held-out line, into clean. Nothing is dropped from a set that scores are
 * compared on: a line with control characters, as published sets have, stays as it is. */
static int hold_line(const struct held_set *h, const struct dg_line *line, const char *file,
    struct dg_buffer *clean, struct dg_error *err)
{
    enum dg_drop why;
    int rc = dg_clean_line(line->text, line->len, clean, &why, err);
    if (rc == 0 && why == DG_DROP_CONTROL) {
        dg_buffer_add(clean, line->text, line->len);
        return clean->failed ? dg_error_set(err, DG_ENOMEM, "no memory for a line") : 0;
    }
    if (rc == 0 && (why != DG_KEEP || line->cut))
        rc = dg_error_set(err, DG_EFORMAT, "%s line %llu: %s", file,
            (unsigned long long)(h->n - h->file_start + 1), why ? "not UTF-8" : "too long");
    return rc;
}

/* One pair of lines: texts as they are, ids of their clean form. */
static int hold_pair(
    struct held_set *h, const struct dg_line lines[2], const char *file, struct dg_error *err)
{
    struct dg_buffer clean[2];
    int rc = 0;
    for (size_t i = 0; i < 2; i++)
        dg_buffer_init(&clean[i]);
    for (size_t i = 0; i < 2 && rc == 0; i++) {
        rc = hold_line(h, &lines[i], file, &clean[i], err);
        if (rc == 0)
            rc = dg_file_append(h->texts[i], lines[i].text, lines[i].len, err);
        if (rc == 0)
            rc = dg_file_append(h->texts[i], "\n", 1, err);
    }
    if (rc == 0) {
        bool reversed = h->block.job->r->data.directions[h->direction].reversed;
        const struct dg_buffer *s = &clean[reversed ? 1 : 0], *t = &clean[reversed ? 0 : 1];
        struct dg_pair p = {.source = s->data,
            .source_len = (uint32_t)s->len,
            .target = t->data,
            .target_len = (uint32_t)t->len,
            .weight = 1};
        rc = block_add(&h->block, &p, err);
        h->n++;
    }
    if (rc == 0 && block_full(&h->block))
        rc = flush_block(&h->block, &h->set, (long)h->direction, err);
    for (size_t i = 0; i < 2; i++)
        dg_buffer_deinit(&clean[i]);
    return rc;
}

static int hold_file(struct held_set *h, const struct dg_recipe_file *f, struct dg_error *err)
{
    const struct dg_prepare_job *j = h->block.job;
    bool reversed = j->r->data.directions[h->direction].reversed;
    struct dg_buffer a, b;
    struct dg_corpus *c = NULL;
    struct dg_line lines[2];
    int got = 0;
    h->file_start = h->n;
    dg_buffer_init(&a);
    dg_buffer_init(&b);
    const char *paths[2] = {dg_recipe_path(j->r, reversed ? f->target : f->source, &a),
        dg_recipe_path(j->r, reversed ? f->source : f->target, &b)};
    int rc = paths[0] && paths[1] ? dg_corpus_open(paths, 2, &c, err)
                                  : dg_error_set(err, DG_ENOMEM, "out of memory for paths");
    while (rc == 0 && (got = dg_corpus_next(c, lines, err)) > 0)
        rc = hold_pair(h, lines, f->source, err);
    dg_corpus_close(c);
    dg_buffer_deinit(&a);
    dg_buffer_deinit(&b);
    return rc ? rc : got;
}

static int open_texts(struct held_set *h, struct dg_json *o, struct dg_error *err)
{
    static const char *const sides[2] = {"source", "target"};
    struct dg_buffer path;
    char file[64], key[16];
    int rc = 0;
    dg_buffer_init(&path);
    for (size_t i = 0; i < 2 && rc == 0; i++) {
        snprintf(file, sizeof file, "%s.%s.txt", h->set.name, sides[i]);
        snprintf(key, sizeof key, "%s_text", sides[i]);
        dg_json_set_string(o, key, file);
        const char *full = dg_prepare_path(h->block.job, &path, file);
        rc = full ? dg_file_begin(full, &h->texts[i], err)
                  : dg_error_set(err, DG_ENOMEM, "out of memory for paths");
    }
    dg_buffer_deinit(&path);
    return rc;
}

static int close_texts(struct held_set *h, struct dg_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < 2 && rc == 0; i++) {
        struct dg_file_writer *w = h->texts[i];
        h->texts[i] = NULL;
        rc = dg_file_commit_take(w, err);
    }
    return rc;
}

static int make_set(struct dg_prepare_job *j, const char *kind, size_t direction,
    const struct dg_recipe_file *files, size_t n, struct dg_error *err)
{
    struct held_set h = {.direction = direction};
    struct dg_json *o = dg_json_new_object();
    char name[32];
    snprintf(name, sizeof name, "%s-%zu", kind, direction);
    int rc = block_init(&h.block, j, err);
    h.set = (struct set){.name = name, .keep_all = true, .list = dg_json_new_array()};
    if (rc == 0)
        rc = open_texts(&h, o, err);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = hold_file(&h, &files[i], err);
    if (rc == 0)
        rc = flush_block(&h.block, &h.set, (long)direction, err);
    if (rc == 0)
        rc = close_shard(&h.set, err);
    if (rc == 0)
        rc = close_texts(&h, err);
    for (size_t i = 0; i < 2; i++)
        if (h.texts[i])
            dg_file_abort(h.texts[i]);
    dg_shard_abort(h.set.shard);
    block_deinit(&h.block);
    if (rc == 0) {
        dg_json_set_string(o, "kind", kind);
        dg_json_set_int(o, "direction", (int64_t)direction);
        dg_json_set_int(o, "sentences", (int64_t)h.n);
        dg_json_set_int(o, "left_out", (int64_t)h.set.left_out);
        dg_json_set_int(o, "longest", h.set.longest);
        return add_set(j, &h.set, o, err);
    }
    dg_json_free(h.set.list);
    dg_json_free(o);
    return rc;
}

int dg_prepare_sets(struct dg_prepare_job *j, const char *kind, struct dg_error *err)
{
    int rc = 0;
    bool dev = strcmp(kind, "dev") == 0;
    for (size_t i = 0; i < j->r->data.n_directions && rc == 0; i++) {
        const struct dg_recipe_pair *p = &j->r->data.pairs[j->r->data.directions[i].pair];
        size_t n = dev ? p->n_dev : p->n_test;
        if (n)
            rc = make_set(j, kind, i, dev ? p->dev : p->test, n, err);
    }
    return rc;
}
