#include "trainer/verbs/verbs.h"

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

/* Writes all trees. Leaves out lines that are not trees, as treebanks have some, and reports how
 * many, and the first. */
static int write_trees(const struct dg_args *a, struct dg_corpus_lines *trees,
    struct dg_file_writer *const *out, struct dg_arena *arena, struct dg_error *err)
{
    struct dg_line line;
    struct dg_error first = {0};
    uint64_t bad = 0;
    int got = 1, rc = 0;
    for (int64_t n = 0; !rc && (a->lines <= 0 || n < a->lines); n++) {
        struct dg_tree t;
        struct dg_error why = {0};
        got = dg_corpus_lines_next(trees, &line, err);
        if (got <= 0)
            break;
        dg_arena_reset(arena);
        rc = dg_tree_read(line.text, line.len, arena, &t, &why);
        if (rc == DG_EFORMAT) {
            dg_error_prefix(&why, "line %llu", (unsigned long long)dg_corpus_lines_number(trees));
            if (bad++ == 0)
                first = why;
            rc = 0;
        } else if (rc) {
            *err = why;
        } else {
            rc = write_tree(out, &t, err);
        }
    }
    if (!rc && got >= 0 && bad)
        fprintf(stderr, "dragoman-train treebank: %llu lines of %s are no trees, left out: %s\n",
            (unsigned long long)bad, a->words[0], first.message);
    return rc ? rc : got < 0 ? got : 0;
}

int dg_verb_treebank(const struct dg_args *a, struct dg_error *err)
{
    struct dg_corpus_lines *trees = NULL;
    struct dg_arena arena;
    struct dg_file_writer *out[SIDES] = {NULL};
    dg_arena_init(&arena, 0);
    int rc = dg_corpus_lines_open(a->words[0], &trees, err);
    for (int side = 0; side < SIDES && !rc; side++)
        rc = begin(a, sides[side].suffix, &out[side], err);
    if (!rc)
        rc = write_trees(a, trees, out, &arena, err);
    for (int side = 0; side < SIDES; side++) {
        if (rc)
            dg_file_abort(out[side]);
        else
            rc = dg_file_commit_take(out[side], err);
    }
    dg_corpus_lines_close(trees);
    dg_arena_deinit(&arena);
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
