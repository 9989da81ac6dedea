/* A constituency tree of a sentence: words, and labelled brackets around runs of them. Read from
 * and written as treebanks do, "(S (NP (PRP We)) (VP (VBD left)))", and as sequences of a parser
 * (Vinyals & Kaiser et al., 2015): "(S (NP XX )NP (VP XX )VP )S". Pure functions; any thread. */
#ifndef DG_TEXT_TREE_TREE_H
#define DG_TEXT_TREE_TREE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The symbol of a word, whatever its tag, and of the tag of an untagged word. */
#define DG_TREE_WORD "XX"

struct dg_tree_word {
    /* as in text: "(", not "-LRB-"; a double quote, not `` or '' */
    const char *text;
    const char *tag;
};

/* A bracket around words begin .. end - 1, at least one. */
struct dg_bracket {
    const char *label;
    uint32_t begin, end;
};

/* Strings and arrays are in the arena that the tree was read into. */
struct dg_tree {
    /* [n_words] */
    struct dg_tree_word *words;
    uint32_t n_words;
    /* [n_brackets] in the order in which they open, so outer first */
    struct dg_bracket *brackets;
    uint32_t n_brackets;
};

/* Read one tree of a treebank. Left out are traces (-NONE-), constituents of nothing else, the
 * brackets ROOT, TOP and "" around a whole tree, and suffixes of labels (NP-SBJ-1 and NP=2 become
 * NP). DG_EFORMAT names the byte of the fault; DG_ENOMEM. */
int dg_tree_read(
    const char *text, size_t n, struct dg_arena *arena, struct dg_tree *out, struct dg_error *err);

/* Append "(TOP (S (NP (XX We)) ...))", parentheses within words as -LRB- and -RRB-. */
void dg_tree_write(const struct dg_tree *t, struct dg_buffer *out);
/* Append the words with a space between. */
void dg_tree_write_words(const struct dg_tree *t, struct dg_buffer *out);
/* Append the sequence: labelled brackets, each word as XX, no tags. */
void dg_tree_write_sequence(const struct dg_tree *t, struct dg_buffer *out);

/* Repairs of a sequence that was not a tree of the words. */
struct dg_tree_repairs {
    /* brackets that were closed for it: by an outer one's end, or at the end */
    uint32_t closed;
    /* symbols ignored: neither a bracket nor XX, or the end of a bracket that is not open */
    uint32_t ignored;
    /* words without an XX */
    uint32_t missing;
    /* XX without a word */
    uint32_t surplus;
};

static inline bool dg_tree_was_repaired(const struct dg_tree_repairs *r)
{
    return r->closed || r->ignored || r->missing || r->surplus;
}

/* Restore the tree over words[n_words] from a sequence; any sequence gives one. The end of a
 * bracket closes those within it; meaningless symbols, and XX beyond the last word, are ignored;
 * remaining words join the outermost bracket, or an S around everything if that is not around all
 * earlier words; empty brackets are dropped. DG_ENOMEM. */
int dg_tree_restore(const char *sequence, const char *const *words, uint32_t n_words,
    struct dg_arena *arena, struct dg_tree *out, struct dg_tree_repairs *repairs,
    struct dg_error *err);

#endif
