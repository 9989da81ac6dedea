/* Before any training file is read: reads the lines that must not be trained on, and checks the dev
 * and test sets. */
#include "trainer/prepare/prepare_internal.h"

#include "text/detect/langcheck.h"
#include "trainer/data/corpus.h"

#include <stdlib.h>

/* Reads the lines that must not be trained on. scored: they are a dev or test set's, which is
 * refused now rather than after everything else was prepared. */
static int hold_out_file(
    struct dg_prepare_job *j, const char *name, bool scored, struct dg_error *err)
{
    struct dg_corpus_lines *l = NULL;
    struct dg_buffer clean;
    struct dg_line line;
    uint64_t columns = 0;
    int got = 1;
    dg_buffer_init(&clean);
    char *path = dg_recipe_path(j->r, name);
    int rc = dg_corpus_lines_open(path, &l, err);
    while (rc == 0 && (got = dg_corpus_lines_next(l, &line, err)) > 0) {
        enum dg_drop why;
        columns += dg_prepare_has_columns(line.text, line.len);
        dg_buffer_reset(&clean);
        rc = dg_clean_line(line.text, line.len, &clean, &why, err);
        if (rc == 0 && scored)
            rc = dg_prepare_held_line(&line, why, name, dg_corpus_lines_number(l), err);
        if (rc == 0 && clean.len && j->r->cleaning.remove_overlap)
            dg_hash_set_add(j->held_out, dg_prepare_line_hash(clean.data, clean.len));
        if (rc == 0 && clean.len && j->near)
            dg_near_copies_add(j->near, clean.data, clean.len);
    }
    if (rc == 0 && got == 0 && scored)
        rc = dg_prepare_columns(j->r, name, columns, dg_corpus_lines_number(l), err);
    dg_corpus_lines_close(l);
    dg_buffer_deinit(&clean);
    free(path);
    return rc ? rc : got < 0 ? got : 0;
}

/* Counts a pair of lines of a set, and whether a side is certainly in another language. */
static int judge_pair(struct dg_prepare_count *c, const struct dg_recipe_pair *pair,
    const struct dg_line lines[2], struct dg_error *err)
{
    const char *raw[2], *text[2];
    size_t len[2], n[2];
    struct dg_buffer clean[2];
    int rc = 0;
    for (int i = 0; i < 2; i++)
        dg_buffer_init(&clean[i]);
    for (int i = 0; i < 2 && rc == 0; i++) {
        enum dg_drop why;
        rc = dg_clean_line(lines[i].text, lines[i].len, &clean[i], &why, err);
        raw[i] = lines[i].text;
        len[i] = lines[i].len;
        text[i] = clean[i].data ? clean[i].data : "";
        n[i] = clean[i].len;
    }
    c->read++;
    if (rc == 0 && (dg_langcheck_wrong(text[0], n[0], pair->source_lang) ||
                       dg_langcheck_wrong(text[1], n[1], pair->target_lang))) {
        c->by[DG_DROP_LANGUAGE]++;
        c->swapped += dg_prepare_is_swapped(pair, text[0], n[0], text[1], n[1]);
        dg_prepare_note_example(c, DG_DROP_LANGUAGE, raw, len);
    }
    for (int i = 0; i < 2; i++)
        dg_buffer_deinit(&clean[i]);
    return rc;
}

/* Refuses a file of a set in other languages than the recipe says: its scores would be of something
 * else. */
static int judge_languages(struct dg_prepare_job *j, const struct dg_recipe_pair *pair,
    const struct dg_recipe_file *f, struct dg_error *err)
{
    struct dg_prepare_count count = {0};
    struct dg_corpus *c = NULL;
    struct dg_line lines[2];
    int got = 0;
    char *paths[2] = {dg_recipe_path(j->r, f->source), dg_recipe_path(j->r, f->target)};
    int rc = dg_corpus_open((const char *const *)paths, 2, &c, err);
    while (rc == 0 && (got = dg_corpus_next(c, lines, err)) > 0)
        rc = judge_pair(&count, pair, lines, err);
    rc = rc ? rc : got;
    if (rc == 0)
        rc = dg_prepare_set_faults(pair, f, &count, err);
    dg_corpus_close(c);
    free(paths[0]);
    free(paths[1]);
    return rc;
}

static int hold_out_files(struct dg_prepare_job *j, const struct dg_recipe_pair *pair,
    const struct dg_recipe_file *f, size_t n, struct dg_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = hold_out_file(j, f[i].source, true, err);
        if (rc == 0)
            rc = hold_out_file(j, f[i].target, true, err);
        if (rc == 0 && j->r->cleaning.language_check)
            rc = judge_languages(j, pair, &f[i], err);
    }
    return rc;
}

int dg_prepare_held_out(struct dg_prepare_job *j, struct dg_error *err)
{
    const struct dg_recipe_data *d = &j->r->data;
    int rc = 0;
    j->held_out = dg_hash_set_new();
    if (j->r->cleaning.near_copies)
        j->near = dg_near_copies_new((int)j->r->cleaning.near_copies);
    for (size_t i = 0; i < d->n_pairs && rc == 0; i++) {
        const struct dg_recipe_pair *p = &d->pairs[i];
        rc = hold_out_files(j, p, p->dev, p->n_dev, err);
        if (rc == 0)
            rc = hold_out_files(j, p, p->test, p->n_test, err);
    }
    const bool wanted = j->r->cleaning.remove_overlap || j->near;
    for (size_t i = 0; i < d->n_held_out && rc == 0 && wanted; i++)
        rc = hold_out_file(j, d->held_out[i], false, err);
    return rc;
}
