/* libFuzzer target for text/tree/: the first byte chooses a treebank's tree or a parser's sequence
 * over the words in the first line. Property: a tree is refused with the byte's position, or is
 * well-formed, its sequence restores it without a repair, and its written form reads back as the
 * same brackets; any sequence gives a well-formed tree over the words. EVALB's scores of it are
 * within bounds. */
#include "tests/fuzz/fuzz.h"
#include "text/tree/evalb.h"
#include "text/tree/treebank_words.h"
#include "text/tree/tree.h"

#include <string.h>

enum { MOST_WORDS = 64 };

/* Checks that each bracket covers words, and that any two are disjoint or nested. */
static void check_tree(const struct dg_tree *t)
{
    for (uint32_t i = 0; i < t->n_brackets; i++) {
        const struct dg_bracket *b = &t->brackets[i];
        require(b->label[0] && b->begin < b->end && b->end <= t->n_words);
        for (uint32_t k = 0; k < i; k++) {
            const struct dg_bracket *a = &t->brackets[k];
            require(a->begin <= b->begin && (a->end <= b->begin || a->end >= b->end));
        }
    }
}

static void check_evalb(const struct dg_tree *gold, const struct dg_tree *parsed)
{
    struct dg_evalb e = {0};
    struct dg_error err = {0};
    require(dg_evalb_add(&e, gold, parsed, &err) == DG_OK);
    require(e.sentences == 1 && e.matched <= e.gold && e.matched <= e.parsed);
    require(dg_evalb_f1(&e) >= 0 && dg_evalb_f1(&e) <= 100.001);
}

/* True if every label can be told from a word's symbol in a sequence. */
static int is_plain(const struct dg_tree *t)
{
    for (uint32_t i = 0; i < t->n_brackets; i++)
        if (strpbrk(t->brackets[i].label, "() \n"))
            return 0;
    return 1;
}

static void check_sequence(const struct dg_tree *t, struct dg_arena *arena)
{
    const char *words[MOST_WORDS];
    struct dg_tree again;
    struct dg_tree_repairs repairs;
    struct dg_buffer sequence;
    struct dg_error err = {0};
    dg_buffer_init(&sequence);
    dg_tree_write_sequence(t, &sequence);
    for (uint32_t i = 0; i < t->n_words; i++)
        words[i] = t->words[i].text;
    dg_buffer_add(&sequence, "", 1);
    require(
        dg_tree_restore(sequence.data, words, t->n_words, arena, &again, &repairs, &err) == DG_OK);
    require(!dg_tree_was_repaired(&repairs) || !is_plain(t));
    check_tree(&again);
    if (is_plain(t)) {
        require(again.n_brackets == t->n_brackets);
        check_evalb(t, &again);
    }
    dg_buffer_deinit(&sequence);
}

static void read_tree(const char *s, size_t n, struct dg_arena *arena)
{
    struct dg_tree t, again;
    struct dg_buffer out;
    struct dg_error err = {0};
    int rc = dg_tree_read(s, n, arena, &t, &err);
    require(rc == DG_OK || (rc == DG_EFORMAT && err.message[0] != '\0') || rc == DG_ENOMEM);
    if (rc != DG_OK || t.n_words > MOST_WORDS || t.n_brackets > 4 * MOST_WORDS)
        return;
    check_tree(&t);
    check_sequence(&t, arena);
    dg_buffer_init(&out);
    dg_tree_write(&t, &out);
    if (t.n_words > 0 && !memchr(s, '\0', n)) {
        rc = dg_tree_read(out.data, out.len, arena, &again, &err);
        require(rc == DG_OK && again.n_words == t.n_words && again.n_brackets == t.n_brackets);
    }
    dg_tree_write_words(&t, &out);
    dg_buffer_deinit(&out);
}

/* Restores a tree over the words of the first line from the sequence that follows it. */
static void restore(char *s, struct dg_arena *arena)
{
    const char *words[MOST_WORDS];
    uint32_t n = 0;
    struct dg_tree t;
    struct dg_tree_repairs repairs;
    struct dg_error err = {0};
    char *sequence = strchr(s, '\n'), *next = NULL;
    if (sequence)
        *sequence++ = '\0';
    for (char *w = strtok_r(s, " ", &next); w && n < MOST_WORDS; w = strtok_r(NULL, " ", &next))
        words[n++] = w;
    require(
        dg_tree_restore(sequence ? sequence : "", words, n, arena, &t, &repairs, &err) == DG_OK);
    require(t.n_words == n);
    check_tree(&t);
    if (n > 0)
        check_evalb(&t, &t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_arena arena;
    struct dg_buffer words;
    if (size == 0 || size > 4096)
        return 0;
    dg_arena_init(&arena, 0);
    dg_buffer_init(&words);
    const char *s = (const char *)data + 1;
    if (data[0] % 3 == 0)
        read_tree(s, size - 1, &arena);
    else if (data[0] % 3 == 1)
        restore(dg_arena_strndup(&arena, s, size - 1), &arena);
    else
        dg_treebank_words(s, size - 1, &words);
    require(!words.failed);
    dg_buffer_deinit(&words);
    dg_arena_deinit(&arena);
    return 0;
}
