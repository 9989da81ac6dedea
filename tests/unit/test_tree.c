#include "text/tree/tree.h"
#include "text/tree/treebank_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct fixture {
    struct dg_arena arena;
    struct dg_buffer out;
};

static int set_up(void **state)
{
    static struct fixture f;
    dg_arena_init(&f.arena, 0);
    dg_buffer_init(&f.out);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    dg_arena_deinit(&f->arena);
    dg_buffer_deinit(&f->out);
    return 0;
}

static struct dg_tree read_tree(struct fixture *f, const char *text)
{
    struct dg_tree t;
    struct dg_error err = {0};
    if (dg_tree_read(text, strlen(text), &f->arena, &t, &err))
        fail_msg("%s: %s", text, err.message);
    return t;
}

/* Returns what the function appends for a tree. */
static const char *written(
    struct fixture *f, void (*write)(const struct dg_tree *, struct dg_buffer *), const char *text)
{
    struct dg_tree t = read_tree(f, text);
    dg_buffer_reset(&f->out);
    write(&t, &f->out);
    return f->out.data;
}

/* The example of Vinyals & Kaiser et al., figure 2, with tags dropped. */
static void test_a_tree_as_a_sequence(void **state)
{
    static const char *const tree =
        "( (S (NP-SBJ (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog))) (. .)))";
    assert_string_equal(written(*state, dg_tree_write_sequence, tree),
        "(S (NP XX )NP (VP XX (NP XX XX )NP )VP XX )S");
    assert_string_equal(written(*state, dg_tree_write_words, tree), "John has a dog .");
    assert_string_equal(written(*state, dg_tree_write, tree),
        "(TOP (S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog))) (. .)))");
}

static void test_traces_and_functions_go(void **state)
{
    /* A tree of the Penn Treebank's kind: traces, brackets with nothing else, functions,
     * indices. */
    assert_string_equal(
        written(*state, dg_tree_write,
            "( (S (NP-SBJ-1 (NNP Agnew) ) (VP (VBD was) (VP (VBN named) (S (NP-SBJ (-NONE- *-1) ) "
            "(NP-PRD=2 (DT a) (NN director) )) (SBAR (-NONE- 0) (S (-NONE- *T*-1) )))) ))"),
        "(TOP (S (NP (NNP Agnew)) (VP (VBD was) (VP (VBN named) (S (NP (DT a) (NN director)))))))");
    assert_string_equal(written(*state, dg_tree_write_words,
                            "(ROOT (NP (-LRB- -LRB-) (`` ``) (NN x-y=z) ('' '') (-RRB- -RRB-)))"),
        "( \" x-y=z \" )");
    assert_string_equal(written(*state, dg_tree_write, "(ROOT (NP (-LRB- -LRB-) (NN a)))"),
        "(TOP (NP (-LRB- -LRB-) (NN a)))");
    assert_string_equal(
        written(*state, dg_tree_write, "((NP (NP (NN a))))"), "(TOP (NP (NP (NN a))))");
    assert_string_equal(written(*state, dg_tree_write, " "), "(TOP)");
}

static void test_what_is_no_tree_is_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {
        "(S (NP (NN a))", "(S (NN a)))", "a", "(S (NN a) b)", "(NN a b)", "(NN a", ")"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct dg_tree t;
        struct dg_error err = {0};
        if (dg_tree_read(bad[i], strlen(bad[i]), &f->arena, &t, &err) != DG_EFORMAT)
            fail_msg("\"%s\" was read", bad[i]);
        assert_non_null(strstr(err.message, "byte "));
    }
}

struct restored {
    const char *sequence, *tree;
    struct dg_tree_repairs repairs; /* closed, ignored, missing, surplus */
};

/* Over the words a b c d. */
static void test_broken_sequences_are_repaired_by_the_rule(void **state)
{
    struct fixture *f = *state;
    static const char *const words[] = {"a", "b", "c", "d"};
    static const struct restored rows[] = {
        {"(S (NP XX XX )NP (VP XX XX )VP )S", "(TOP (S (NP a b) (VP c d)))", {0, 0, 0, 0}},
        {"(S (NP (NP XX )NP XX )NP XX XX )S", "(TOP (S (NP (NP a) b) c d))", {0, 0, 0, 0}},
        {"(S (NP XX )NP )S (X XX XX XX )X", "(TOP (S (NP a)) (X b c d))", {0, 0, 0, 0}},
        {"(S (NP XX XX (VP XX XX )S", "(TOP (S (NP a b (VP c d))))", {2, 0, 0, 0}},
        {"(S (NP XX XX )VP XX XX )NP )S", "(TOP (S (NP a b c d)))", {0, 1, 0, 0}},
        {"(S (NP XX XX )NP (VP XX", "(TOP (S (NP a b) (VP c) d))", {2, 0, 1, 0}},
        {"(S XX XX XX XX XX XX )S", "(TOP (S a b c d))", {0, 0, 0, 2}},
        {"(S XX XX", "(TOP (S a b c d))", {1, 0, 2, 0}},
        {"(NP XX )NP (VP XX )VP", "(TOP (S (NP a) (VP b) c d))", {0, 0, 2, 0}},
        {"XX (NP XX )NP", "(TOP (S a (NP b) c d))", {0, 0, 2, 0}},
        {"(S (NP )NP XX dog XX (( () XX XX )S", "(TOP (S a b c d))", {0, 3, 0, 0}},
        {"( ) XX XX XX XX", "(TOP a b c d)", {0, 2, 0, 0}},
        {"", "(TOP (S a b c d))", {0, 0, 4, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dg_tree t;
        struct dg_tree_repairs r;
        struct dg_error err = {0};
        char expected[256] = "";
        assert_int_equal(dg_tree_restore(rows[i].sequence, words, 4, &f->arena, &t, &r, &err), 0);
        /* Leaves are short in the table: a is (XX a). */
        for (const char *s = rows[i].tree; *s; s++) {
            char leaf[8] = {*s};
            if (*s >= 'a' && *s <= 'd')
                snprintf(leaf, sizeof leaf, "(XX %c)", *s);
            strcat(expected, leaf);
        }
        dg_buffer_reset(&f->out);
        dg_tree_write(&t, &f->out);
        if (strcmp(f->out.data, expected) != 0)
            fail_msg("%s: %s, expected %s", rows[i].sequence, f->out.data, expected);
        if (memcmp(&r, &rows[i].repairs, sizeof r) != 0)
            fail_msg("%s: closed %u, ignored %u, missing %u, surplus %u", rows[i].sequence,
                r.closed, r.ignored, r.missing, r.surplus);
        assert_int_equal(
            dg_tree_was_repaired(&r), r.closed + r.ignored + r.missing + r.surplus > 0);
    }
}

static void test_words_of_a_treebank(void **state)
{
    struct fixture *f = *state;
    static const char *const rows[][2] = {
        {"John has a dog.", "John has a dog ."},
        {"\"Mr. Agnew didn't say it's 5%,\" she said.",
            "\" Mr. Agnew did n't say it 's 5 % , \" she said ."},
        {"The firm's (U.S.) loss -- $3.5 million -- hurt.",
            "The firm 's ( U.S. ) loss -- $ 3.5 million -- hurt ."},
        {"Dogs' tails; cats? No!", "Dogs ' tails ; cats ? No !"},
        {"Wait...", "Wait ..."},
        {"He left (at 3 p.m.).", "He left ( at 3 p.m. ) ."},
        {"well--known\u2014yes", "well -- known \u2014 yes"},
        {"already , apart did n't move .", "already , apart did n't move ."},
        {"'s", "'s"},
        {" . ", "."},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        dg_buffer_reset(&f->out);
        dg_treebank_words(rows[i][0], strlen(rows[i][0]), &f->out);
        assert_string_equal(f->out.data ? f->out.data : "", rows[i][1]);
    }
}

/* Nothing is read beyond the text: its last byte is followed by an inaccessible page. */
static void test_words_at_the_end_of_memory(void **state)
{
    struct fixture *f = *state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(two, MAP_FAILED);
    assert_int_equal(mprotect(two + page, page, PROT_NONE), 0);
    memcpy(two + page - 5, "No ..", 5);
    dg_treebank_words(two + page - 5, 5, &f->out);
    assert_string_equal(f->out.data, "No ..");
    munmap(two, 2 * page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_tree_as_a_sequence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_traces_and_functions_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_tree_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_broken_sequences_are_repaired_by_the_rule, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_words_of_a_treebank, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_words_at_the_end_of_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
