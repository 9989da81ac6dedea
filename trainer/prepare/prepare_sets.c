/* Writes dev and test sets: their texts unchanged, and shards of their clean form. */
#include "trainer/prepare/encode_set.h"

#include "base/alloc.h"
#include "base/file.h"
#include "trainer/data/corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A dev or test set being made. */
struct held_set {
    struct dg_encode_block block;
    struct dg_encode_set set;
    /* source, target as the direction has them */
    struct dg_file_writer *texts[2];
    uint64_t n, file_start;
};

/* Appends the clean form of a held-out line to clean. Nothing is dropped from a set on which scores
 * are compared: a line with control characters, as published sets have, stays as it is. */
static int hold_line(const struct held_set *h, const struct dg_line *line, const char *file,
    struct dg_buffer *clean, struct dg_error *err)
{
    enum dg_drop why;
    int rc = dg_clean_line(line->text, line->len, clean, &why, err);
    if (rc == 0 && why == DG_DROP_CONTROL) {
        dg_buffer_add(clean, line->text, line->len);
        dg_alloc_check(!clean->failed, "a line");
    }
    return rc ? rc : dg_prepare_held_line(line, why, file, h->n - h->file_start + 1, err);
}

/* Adds one pair of lines: the texts unchanged, the ids of their clean form. files: their names, as
 * the direction has them. */
static int hold_pair(struct held_set *h, const struct dg_line lines[2], const char *const files[2],
    struct dg_error *err)
{
    struct dg_buffer clean[2];
    int rc = 0;
    for (size_t i = 0; i < 2; i++)
        dg_buffer_init(&clean[i]);
    for (size_t i = 0; i < 2 && rc == 0; i++) {
        rc = hold_line(h, &lines[i], files[i], &clean[i], err);
        if (rc == 0)
            rc = dg_file_append(h->texts[i], lines[i].text, lines[i].len, err);
        if (rc == 0)
            rc = dg_file_append(h->texts[i], "\n", 1, err);
    }
    if (rc == 0) {
        bool reversed = h->block.job->r->data.directions[h->set.direction].reversed;
        const struct dg_buffer *s = &clean[reversed], *t = &clean[!reversed];
        struct dg_pair p = {.source = s->data,
            .source_len = (uint32_t)s->len,
            .target = t->data,
            .target_len = (uint32_t)t->len,
            .weight = 1};
        dg_encode_block_add(&h->block, &p);
        h->n++;
    }
    if (rc == 0 && dg_encode_block_is_full(&h->block))
        rc = dg_encode_set_flush(&h->set, &h->block, err);
    for (size_t i = 0; i < 2; i++)
        dg_buffer_deinit(&clean[i]);
    return rc;
}

static int hold_file(struct held_set *h, const struct dg_recipe_file *f, struct dg_error *err)
{
    const struct dg_prepare_job *j = h->block.job;
    bool reversed = j->r->data.directions[h->set.direction].reversed;
    struct dg_corpus *c = NULL;
    struct dg_line lines[2];
    const char *const names[2] = {
        reversed ? f->target : f->source, reversed ? f->source : f->target};
    int got = 0;
    h->file_start = h->n;
    char *paths[2] = {dg_recipe_path(j->r, names[0]), dg_recipe_path(j->r, names[1])};
    int rc = dg_corpus_open((const char *const *)paths, 2, &c, err);
    while (rc == 0 && (got = dg_corpus_next(c, lines, err)) > 0)
        rc = hold_pair(h, lines, names, err);
    dg_corpus_close(c);
    free(paths[0]);
    free(paths[1]);
    return rc ? rc : got;
}

static int open_texts(struct held_set *h, struct dg_json *o, struct dg_error *err)
{
    static const char *const sides[2] = {"source", "target"};
    char file[64], key[16];
    int rc = 0;
    for (size_t i = 0; i < 2 && rc == 0; i++) {
        snprintf(file, sizeof file, "%s.%s.txt", h->set.name, sides[i]);
        snprintf(key, sizeof key, "%s_text", sides[i]);
        dg_json_set_string(o, key, file);
        char *path = dg_alloc_path(h->block.job->o->dir, file);
        rc = dg_file_begin(path, &h->texts[i], err);
        free(path);
    }
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

/* Checks that pairs of a dev set are left to measure a run's loss on. */
static int check_dev_set(const struct held_set *h, const char *file, struct dg_error *err)
{
    const struct dg_recipe *r = h->block.job->r;
    const struct dg_recipe_direction *d = &r->data.directions[h->set.direction];
    if (!h->n)
        return dg_error_field(err, DG_EINVAL, "data.pairs", "the dev set %s-%s (%s) has no lines",
            d->source_lang, d->target_lang, file);
    if (h->set.left_out < h->n)
        return 0;
    return dg_error_field(err, DG_EINVAL, "cleaning.max_tokens",
        "the dev set %s-%s (%s): each of its %llu pairs is over cleaning.max_tokens, which is "
        "%lld, so it has no loss; raise that, or choose shorter lines",
        d->source_lang, d->target_lang, file, (unsigned long long)h->n,
        (long long)r->cleaning.max_tokens);
}

static int make_set(struct dg_prepare_job *j, const char *kind, size_t direction,
    const struct dg_recipe_file *files, size_t n, struct dg_error *err)
{
    struct held_set h = {.texts = {NULL}};
    struct dg_json *o = dg_json_new_object();
    char name[32];
    snprintf(name, sizeof name, "%s-%zu", kind, direction);
    dg_encode_block_init(&h.block, j);
    h.set = (struct dg_encode_set){
        .name = name, .direction = (long)direction, .list = dg_json_new_array()};
    int rc = open_texts(&h, o, err);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = hold_file(&h, &files[i], err);
    if (rc == 0)
        rc = dg_encode_set_flush(&h.set, &h.block, err);
    if (rc == 0)
        rc = dg_encode_set_end(&h.set, err);
    if (rc == 0)
        rc = close_texts(&h, err);
    if (rc == 0 && strcmp(kind, "dev") == 0)
        rc = check_dev_set(&h, files[0].source, err);
    for (size_t i = 0; i < 2; i++)
        if (h.texts[i])
            dg_file_abort(h.texts[i]);
    dg_shard_abort(h.set.shard);
    dg_encode_block_deinit(&h.block);
    if (rc == 0) {
        dg_json_set_string(o, "kind", kind);
        dg_json_set_int(o, "direction", (int64_t)direction);
        dg_json_set_int(o, "sentences", (int64_t)h.n);
        dg_json_set_int(o, "left_out", (int64_t)h.set.left_out);
        dg_json_set_int(o, "longest", h.set.longest);
        return dg_encode_set_list_take(&h.set, j, o, err);
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
