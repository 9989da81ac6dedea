/* Which text files have lines that were wrapped by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "documents/extract.h"

/* Files of lines, and whether their lines are taken for wrapped ones. */
static const struct {
    const char *file;
    bool wrapped;
} line_files[] = {
    {"The dogs that live in the old house near the river are very\n"
     "fond of the snow, and they play there all day with the girl\n"
     "who lives there.\n",
        true},
    /* fewer than 50 letters, of two bytes each */
    {"Две собаки играют в большом снегу\n"
     "девочка улыбается маме и папе\n",
        false},
    /* ideographs have two columns and three bytes */
    {"两只狗在雪地里玩耍两只狗在雪地里玩耍两只狗在雪地里玩耍两只狗。\n"
     "两只狗。\n",
        false},
    {"两只狗在雪地里玩耍两只狗在雪地里玩耍两只狗在雪地里玩耍两只狗\n"
     "两只狗。\n",
        true},
    {"\"The dogs that live in the old house play in the snow.\"\n"
     "(The girl who lives in the old house smiles at her mother.)\n"
     "»The man who lives in the new house sleeps all day long!«\n",
        false},
    {"Attention Is All You Need: A Study of Networks for Translation\n"
     "Neural Machine Translation by Learning to Align and Translate\n"
     "Sequence to Sequence Learning with Deep Neural Networks Again\n"
     "Effective Approaches to Translation with Attention of One Kind\n"
     "Convolutional Sequence to Sequence Learning on Many Processors\n",
        false},
};

static void wrapped_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof line_files / sizeof *line_files; i++) {
        struct dg_extract *x = NULL;
        struct dg_extract_text t;
        const char *file = line_files[i].file;
        assert_int_equal(dg_extract_open("a.txt", file, strlen(file), "de",
                             &dg_extract_limits_default, &x, NULL),
            DG_OK);
        assert_int_equal(dg_extract_count(x), 1);
        dg_extract_text(x, 0, &t);
        if ((t.format == DG_FORMAT_WRAPPED) != line_files[i].wrapped)
            fail_msg("%s is %s", file, line_files[i].wrapped ? "not wrapped" : "wrapped");
        dg_extract_close(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrapped_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
