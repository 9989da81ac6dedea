#include "trainer/align/tree_links.h"

#include "base/alloc.h"
#include "text/tree/tree.h"
#include "tokenizer/word_mark.h"

#include <stdlib.h>

struct dg_tree_linker {
    const struct dg_dataset *d;
    const struct dg_tokenizer *from;
    /* id of the piece XX */
    int32_t word;
    /* [cap] */
    int32_t *source, *target;
    uint32_t *places;
    bool *is_word;
    struct dg_link *links;
    size_t cap;
};

int dg_tree_linker_new(const struct dg_dataset *d, const struct dg_vocabulary *v,
    struct dg_tree_linker **out, struct dg_error *err)
{
    *out = NULL;
    if (!dg_tokenizer_has_piece(v->target, DG_WORD_MARK DG_TREE_WORD))
        return dg_error_field(err, DG_EINVAL, "guided_alignment.weight",
            "guided_alignment.weight needs a vocabulary of trees with a piece for " DG_TREE_WORD);
    *out = dg_alloc(1, sizeof **out, "links of trees");
    (*out)->d = d;
    (*out)->from = v->source;
    (*out)->word = dg_tokenizer_id(v->target, DG_WORD_MARK DG_TREE_WORD);
    return 0;
}

static void clear(struct dg_tree_linker *l)
{
    free(l->source);
    free(l->target);
    free(l->places);
    free(l->is_word);
    free(l->links);
}

void dg_tree_linker_free(struct dg_tree_linker *l)
{
    if (!l)
        return;
    clear(l);
    free(l);
}

static void fit(struct dg_tree_linker *l, size_t n)
{
    if (n <= l->cap)
        return;
    clear(l);
    l->cap = n + n / 4;
    l->source = dg_alloc(l->cap, sizeof *l->source, "links of trees");
    l->target = dg_alloc(l->cap, sizeof *l->target, "links of trees");
    l->places = dg_alloc(l->cap, sizeof *l->places, "links of trees");
    l->is_word = dg_alloc(l->cap, sizeof *l->is_word, "links of trees");
    l->links = dg_alloc(l->cap, sizeof *l->links, "links of trees");
}

size_t dg_tree_links(const uint32_t *places, uint32_t n_words, uint32_t end, const bool *is_word,
    uint32_t n_target, struct dg_link *links)
{
    uint32_t word = 0;
    for (uint32_t t = 0; t < n_target; t++) {
        const uint32_t key = word < n_words ? places[word] : end;
        links[t] = (struct dg_link){(uint16_t)t, (uint16_t)key};
        word += is_word[t];
    }
    return word == n_words ? n_target : 0;
}

const struct dg_link *dg_tree_linker_links(struct dg_tree_linker *l, uint64_t sentence, size_t *n)
{
    uint32_t s, t, words = 0;
    dg_dataset_lengths(l->d, sentence, &s, &t);
    fit(l, s > t ? s : t);
    dg_dataset_ids(l->d, sentence, l->source, l->target);
    for (uint32_t i = 0; i + 1 < s; i++) {
        if (dg_word_mark(dg_tokenizer_piece(l->from, l->source[i])))
            l->places[words++] = i;
    }
    for (uint32_t i = 0; i < t; i++)
        l->is_word[i] = l->target[i] == l->word;
    *n = dg_tree_links(l->places, words, s - 1, l->is_word, t, l->links);
    return l->links;
}
