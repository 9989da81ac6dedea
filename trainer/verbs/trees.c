/* Verbs for a model that parses (paper section 6.3): treebank and evalb. */
#include "trainer/verbs/verbs.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "text/tree/evalb.h"
#include "trainer/data/tree_file.h"

#include <stdio.h>
#include <stdlib.h>

/* The files made of a treebank, line by line. */
enum { WORDS, PARSE, GOLD, SIDES };

static const struct {
    const char *suffix;
    void (*write)(const struct dg_tree *t, struct dg_buffer *out);
} sides[SIDES] = {
    {"words", dg_tree_write_words}, {"parse", dg_tree_write_sequence}, {"gold", dg_tree_write}};

/* Begins the file of a side, which must not be the treebank itself. */
static int begin(
    const struct dg_args *a, const char *suffix, struct dg_file_writer **out, struct dg_error *err)
{
    char *path = dg_alloc_print("%s.%s", a->out, suffix);
    int rc = dg_file_spare(path, a->words, 1, err);
    if (!rc)
        rc = dg_file_begin(path, out, err);
    free(path);
    return rc;
}

static int append_line(
    struct dg_file_writer *w, const struct dg_tree *t, int side, struct dg_error *err)
{
    struct dg_buffer line;
    dg_buffer_init(&line);
    sides[side].write(t, &line);
    dg_buffer_adds(&line, "\n");
    int rc = line.failed ? dg_error_set(err, DG_ENOMEM, "no memory for a line")
                         : dg_file_append(w, line.data, line.len, err);
    dg_buffer_deinit(&line);
    return rc;
}

/* Writes a tree to all files; a tree without words (only traces) gets no line. */
static int write_tree(
    struct dg_file_writer *const *out, const struct dg_tree *t, struct dg_error *err)
{
    int rc = 0;
    for (int side = 0; side < SIDES && t->n_words && !rc; side++)
        rc = append_line(out[side], t, side, err);
    return rc;
}

/* A treebank being read. */
struct treebank {
    struct dg_tree_file *trees;
    struct dg_file_writer *out[SIDES];
    struct dg_arena arena;
    /* trees read, what was left out, and why the first was */
    uint64_t n, bad;
    struct dg_error first;
};

/* Writes a tree. What is none is left out, as treebanks have some. */
static int take_tree(struct treebank *t, const char *text, size_t n, struct dg_error *err)
{
    struct dg_tree tree;
    struct dg_error why = {0};
    dg_arena_reset(&t->arena);
    int rc = dg_tree_read(text, n, &t->arena, &tree, &why);
    if (rc == DG_EFORMAT) {
        dg_error_prefix(&why, "line %llu", (unsigned long long)dg_tree_file_line(t->trees));
        if (t->bad++ == 0)
            t->first = why;
        rc = 0;
    } else if (rc) {
        *err = why;
    } else {
        rc = write_tree(t->out, &tree, err);
    }
    t->n++;
    return rc;
}

/* Writes the first `most` trees, 0: all. */
static int write_trees(struct treebank *t, uint64_t most, struct dg_error *err)
{
    const char *text;
    size_t n;
    int got = 1, rc = 0;
    while (!rc && (!most || t->n < most) && (got = dg_tree_file_next(t->trees, &text, &n, err)) > 0)
        rc = take_tree(t, text, n, err);
    return rc ? rc : got < 0 ? got : 0;
}

int dg_verb_treebank(const struct dg_args *a, struct dg_error *err)
{
    struct treebank t = {0};
    dg_arena_init(&t.arena, 0);
    int rc = dg_tree_file_open(a->words[0], &t.trees, err);
    for (int side = 0; side < SIDES && !rc; side++)
        rc = begin(a, sides[side].suffix, &t.out[side], err);
    if (!rc)
        rc = write_trees(&t, a->lines, err);
    for (int side = 0; side < SIDES; side++) {
        if (rc)
            dg_file_abort(t.out[side]);
        else
            rc = dg_file_commit_take(t.out[side], err);
    }
    if (!rc && t.bad)
        fprintf(stderr, "dragoman-train treebank: %llu trees of %s cannot be read, left out: %s\n",
            (unsigned long long)t.bad, a->words[0], t.first.message);
    dg_tree_file_close(t.trees);
    dg_arena_deinit(&t.arena);
    return rc;
}

static void print_brackets(const struct dg_evalb *e, bool json)
{
    if (!json) {
        printf("%llu sentences, %.2f %% exact: recall %.2f, precision %.2f, F1 %.2f\n",
            (unsigned long long)e->sentences,
            e->sentences ? 100.0 * (double)e->exact / (double)e->sentences : 0, dg_evalb_recall(e),
            dg_evalb_precision(e), dg_evalb_f1(e));
        return;
    }
    struct dg_json *o = dg_json_new_object();
    dg_json_set_int(o, "sentences", (int64_t)e->sentences);
    dg_json_set_int(o, "exact", (int64_t)e->exact);
    dg_json_set_int(o, "matched", (int64_t)e->matched);
    dg_json_set_int(o, "gold", (int64_t)e->gold);
    dg_json_set_int(o, "parsed", (int64_t)e->parsed);
    dg_json_set_real(o, "recall", dg_evalb_recall(e));
    dg_json_set_real(o, "precision", dg_evalb_precision(e));
    dg_json_set_real(o, "f1", dg_evalb_f1(e));
    dg_verb_print_json_take(o, 0);
}

/* Gold trees and parsed ones. */
struct evalb_files {
    const char *const *paths;
    struct dg_tree_file *files[2];
    struct dg_arena arena;
    uint64_t n;
};

static int ends_early(const struct evalb_files *f, int shorter, struct dg_error *err)
{
    return dg_error_set(err, DG_EFORMAT, "%s ends after %llu trees, but %s goes on",
        f->paths[shorter], (unsigned long long)f->n, f->paths[!shorter]);
}

/* Reads the next tree of both files. Returns 1, 0 at the end of both, or negative. */
static int next_trees(struct evalb_files *f, struct dg_tree trees[2], struct dg_error *err)
{
    int got[2];
    dg_arena_reset(&f->arena);
    for (int i = 0; i < 2; i++) {
        const char *text;
        size_t n;
        got[i] = dg_tree_file_next(f->files[i], &text, &n, err);
        int rc = got[i] > 0 ? dg_tree_read(text, n, &f->arena, &trees[i], err) : 0;
        if (rc)
            dg_error_prefix(err, "%s line %llu", f->paths[i],
                (unsigned long long)dg_tree_file_line(f->files[i]));
        if (rc || got[i] < 0)
            return rc ? rc : got[i];
    }
    if (got[0] != got[1])
        return ends_early(f, got[0] ? 1 : 0, err);
    f->n += (uint64_t)got[0];
    return got[0];
}

static int compare_trees(struct evalb_files *f, struct dg_evalb *e, struct dg_error *err)
{
    struct dg_tree trees[2];
    int got, rc = 0;
    while (!rc && (got = next_trees(f, trees, err)) != 0) {
        rc = got < 0 ? got : dg_evalb_add(e, &trees[0], &trees[1], err);
        if (rc && got > 0)
            dg_error_prefix(err, "tree %llu (%s line %llu, %s line %llu)", (unsigned long long)f->n,
                f->paths[0], (unsigned long long)dg_tree_file_line(f->files[0]), f->paths[1],
                (unsigned long long)dg_tree_file_line(f->files[1]));
    }
    return rc;
}

int dg_verb_evalb(const struct dg_args *a, struct dg_error *err)
{
    struct dg_evalb e = {0};
    struct evalb_files f = {.paths = a->words};
    dg_arena_init(&f.arena, 0);
    int rc = 0;
    for (int i = 0; i < 2 && !rc; i++)
        rc = dg_tree_file_open(a->words[i], &f.files[i], err);
    if (!rc)
        rc = compare_trees(&f, &e, err);
    if (!rc)
        print_brackets(&e, a->json);
    for (int i = 0; i < 2; i++)
        dg_tree_file_close(f.files[i]);
    dg_arena_deinit(&f.arena);
    return rc;
}
