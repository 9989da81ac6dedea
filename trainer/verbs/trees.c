#include "trainer/verbs/verbs.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "text/tree/evalb.h"
#include "trainer/data/corpus.h"

#include <stdio.h>

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
    struct dg_buffer path;
    dg_buffer_init(&path);
    dg_buffer_addf(&path, "%s.%s", a->out, suffix);
    int rc = path.failed ? dg_error_set(err, DG_ENOMEM, "no memory for a path")
                         : dg_file_spare(path.data, a->words, 1, err);
    if (!rc)
        rc = dg_file_begin(path.data, out, err);
    dg_buffer_deinit(&path);
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
    struct dg_corpus_lines *lines;
    struct dg_file_writer *out[SIDES];
    struct dg_arena arena;
    /* the tree so far, the number of the line that it begins at, and how many of its brackets are
     * open */
    struct dg_buffer tree;
    uint64_t begin;
    int64_t open;
    /* trees read, what was left out, and why the first was */
    uint64_t n, bad;
    struct dg_error first;
};

/* Writes the tree that was collected. What is none is left out, as treebanks have some. */
static int end_tree(struct treebank *t, struct dg_error *err)
{
    struct dg_tree tree;
    struct dg_error why = {0};
    int rc;
    dg_arena_reset(&t->arena);
    rc = dg_tree_read(t->tree.data ? t->tree.data : "", t->tree.len, &t->arena, &tree, &why);
    if (rc == DG_EFORMAT) {
        dg_error_prefix(&why, "line %llu", (unsigned long long)t->begin);
        if (t->bad++ == 0)
            t->first = why;
        rc = 0;
    } else if (rc) {
        *err = why;
    } else {
        rc = write_tree(t->out, &tree, err);
    }
    t->n++;
    dg_buffer_reset(&t->tree);
    t->open = 0;
    return rc;
}

/* True if the line goes on with the tree before it: that is not at its end, and the line is
 * indented, as the Penn Treebank's are. A line of its own ends a broken tree. */
static bool continues(const struct treebank *t, const struct dg_line *line)
{
    return t->open > 0 && t->tree.len + line->len < DG_CORPUS_MAX_LINE && line->len &&
           (line->text[0] == ' ' || line->text[0] == '\t');
}

static int add_line(struct treebank *t, const struct dg_line *line, struct dg_error *err)
{
    int rc = t->tree.len && !continues(t, line) ? end_tree(t, err) : 0;
    if (!t->tree.len)
        t->begin = dg_corpus_lines_number(t->lines);
    else
        dg_buffer_adds(&t->tree, " ");
    dg_buffer_add(&t->tree, line->text, line->len);
    dg_alloc_check(!t->tree.failed, "a tree");
    for (size_t i = 0; i < line->len; i++)
        t->open += (line->text[i] == '(') - (line->text[i] == ')');
    return rc;
}

/* Writes the first `most` trees, 0: all. A tree has one line, or goes on in indented ones. */
static int write_trees(struct treebank *t, uint64_t most, struct dg_error *err)
{
    struct dg_line line;
    int got = 1, rc = 0;
    while (!rc && (!most || t->n < most) && (got = dg_corpus_lines_next(t->lines, &line, err)) > 0)
        rc = add_line(t, &line, err);
    rc = rc ? rc : got < 0 ? got : 0;
    return !rc && t->tree.len && (!most || t->n < most) ? end_tree(t, err) : rc;
}

int dg_verb_treebank(const struct dg_args *a, struct dg_error *err)
{
    struct treebank t = {0};
    dg_arena_init(&t.arena, 0);
    dg_buffer_init(&t.tree);
    int rc = dg_corpus_lines_open(a->words[0], &t.lines, err);
    for (int side = 0; side < SIDES && !rc; side++)
        rc = begin(a, sides[side].suffix, &t.out[side], err);
    if (!rc)
        rc = write_trees(&t, a->lines > 0 ? (uint64_t)a->lines : 0, err);
    for (int side = 0; side < SIDES; side++) {
        if (rc)
            dg_file_abort(t.out[side]);
        else
            rc = dg_file_commit_take(t.out[side], err);
    }
    if (!rc && t.bad)
        fprintf(stderr, "dragoman-train treebank: %llu trees of %s cannot be read, left out: %s\n",
            (unsigned long long)t.bad, a->words[0], t.first.message);
    dg_corpus_lines_close(t.lines);
    dg_buffer_deinit(&t.tree);
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
    struct dg_buffer text;
    dg_buffer_init(&text);
    dg_json_set_int(o, "sentences", (int64_t)e->sentences);
    dg_json_set_int(o, "exact", (int64_t)e->exact);
    dg_json_set_int(o, "matched", (int64_t)e->matched);
    dg_json_set_int(o, "gold", (int64_t)e->gold);
    dg_json_set_int(o, "parsed", (int64_t)e->parsed);
    dg_json_set_real(o, "recall", dg_evalb_recall(e));
    dg_json_set_real(o, "precision", dg_evalb_precision(e));
    dg_json_set_real(o, "f1", dg_evalb_f1(e));
    dg_json_write(o, 0, &text);
    if (text.data)
        puts(text.data);
    dg_buffer_deinit(&text);
    dg_json_free(o);
}

int dg_verb_evalb(const struct dg_args *a, struct dg_error *err)
{
    struct dg_evalb e = {0};
    struct dg_corpus *corpus = NULL;
    struct dg_line lines[2];
    struct dg_arena arena;
    dg_arena_init(&arena, 0);
    uint64_t n = 0;
    int got = 1, rc = dg_corpus_open(a->words, 2, &corpus, err);
    while (!rc && (got = dg_corpus_next(corpus, lines, err)) > 0) {
        struct dg_tree trees[2];
        n++;
        dg_arena_reset(&arena);
        for (int i = 0; i < 2 && !rc; i++) {
            rc = dg_tree_read(lines[i].text, lines[i].len, &arena, &trees[i], err);
            if (rc)
                dg_error_prefix(err, "%s", a->words[i]);
        }
        if (!rc)
            rc = dg_evalb_add(&e, &trees[0], &trees[1], err);
        if (rc)
            dg_error_prefix(err, "line %llu", (unsigned long long)n);
    }
    if (!rc && got < 0)
        rc = got;
    if (!rc)
        print_brackets(&e, a->json);
    dg_corpus_close(corpus);
    dg_arena_deinit(&arena);
    return rc;
}
