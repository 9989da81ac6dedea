#include "trainer/data/tree_file.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "trainer/data/corpus.h"

#include <stdlib.h>
#include <string.h>

struct dg_tree_file {
    struct dg_corpus_lines *lines;
    /* the tree so far, the number of the line that it begins at, and how many of its brackets are
     * open */
    struct dg_buffer tree;
    uint64_t begin;
    int64_t open;
    /* the line that was read last begins the next tree */
    struct dg_line line;
    bool pending;
};

int dg_tree_file_open(const char *path, struct dg_tree_file **out, struct dg_error *err)
{
    *out = NULL;
    struct dg_tree_file *f = dg_alloc(1, sizeof *f, "a treebank");
    dg_buffer_init(&f->tree);
    int rc = dg_corpus_lines_open(path, &f->lines, err);
    if (rc)
        dg_tree_file_close(f);
    else
        *out = f;
    return rc;
}

void dg_tree_file_close(struct dg_tree_file *f)
{
    if (!f)
        return;
    dg_corpus_lines_close(f->lines);
    dg_buffer_deinit(&f->tree);
    free(f);
}

/* True if the line goes on with the tree before it: that is not at its end, and the line is
 * indented, as the Penn Treebank's are. A line of its own ends a broken tree. */
static bool continues(const struct dg_tree_file *f)
{
    return f->open > 0 && f->tree.len + f->line.len < DG_CORPUS_MAX_LINE && f->line.len &&
           (f->line.text[0] == ' ' || f->line.text[0] == '\t');
}

static bool is_blank(const struct dg_line *line)
{
    size_t i = 0;
    while (i < line->len && strchr(" \t", line->text[i]))
        i++;
    return i == line->len;
}

static void add_line(struct dg_tree_file *f)
{
    const struct dg_line *line = &f->line;
    if (!f->tree.len)
        f->begin = dg_corpus_lines_number(f->lines);
    else
        dg_buffer_adds(&f->tree, " ");
    dg_buffer_add(&f->tree, line->text, line->len);
    dg_alloc_check(!f->tree.failed, "a tree");
    for (size_t i = 0; i < line->len; i++)
        f->open += (line->text[i] == '(') - (line->text[i] == ')');
}

int dg_tree_file_next(struct dg_tree_file *f, const char **text, size_t *n, struct dg_error *err)
{
    int got = 1;
    dg_buffer_reset(&f->tree);
    f->open = 0;
    while (f->pending || (got = dg_corpus_lines_next(f->lines, &f->line, err)) > 0) {
        f->pending = f->tree.len && !continues(f);
        if (f->pending)
            break;
        if (f->tree.len || !is_blank(&f->line))
            add_line(f);
    }
    if (got < 0)
        return got;
    *text = f->tree.data;
    *n = f->tree.len;
    return f->tree.len > 0;
}

uint64_t dg_tree_file_line(const struct dg_tree_file *f)
{
    return f->begin;
}
