/* Tables as text (.csv, .tsv): which cells are texts, and how their translations are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/extract_trial.h"

static const struct example cases[] = {
    {"a.csv", "id,title\n1,Two dogs\n2,\"A \"\"girl\"\", a dog\"\n",
        "id,title\n1,TWO DOGS\n2,\"A \"\"GIRL\"\", A DOG\"\n", false},
    {"a.csv", "\xEF\xBB\xBFName;Price;Text\r\nDog;1,5;\"Two\r\ndogs\"\r\n;;\r\n\"x\"y;\"open;1\r\n",
        "\xEF\xBB\xBFNAME;PRICE;TEXT\r\nDOG;1,5;\"TWO\r\nDOGS\"\r\n;;\r\n\"X\"Y;\"OPEN;1\r\n",
        false},
    {"a.csv", "Handle,Title\nred-shirt,Red shirt\n\nblue.hat,hat\n",
        "Handle,Title\nred-shirt,RED SHIRT\n\nblue.hat,HAT\n", false},
    {"a.csv", "key,Two dogs\nbye,A girl\n", "KEY,TWO DOGS\nbye,A GIRL\n", false},
    {"a.csv", "dog\ncat\nA girl\n", "DOG\nCAT\nA GIRL\n", false},
    {"a.csv", "sep=|\nTwo dogs|a, b\n", "sep=|\nTWO DOGS|A, B\n", false},
    {"a.csv", "dog,cat\nhouse,snow\n", "DOG,CAT\nHOUSE,SNOW\n", false},
    {"a.csv", "dog\n=A1&\"dog\"\n\"=A1\"\n", "DOG\n=A1&\"dog\"\n\"=A1\"\n", false},
    {"a.tsv", "dog, cat\t12\r\n\"a \"\"girl\"\"\tx\"\ty",
        "DOG, CAT\t12\r\n\"A \"\"GIRL\"\"\tX\"\tY", false},
};

static void examples(void **state)
{
    (void)state;
    check_examples(cases, sizeof cases / sizeof *cases);
}

/* An answer that would not be one cell, or would begin a quotation, gets quotation marks. */
static void cells_get_quotation_marks(void **state)
{
    static const char file[] = "dog,cat\nA girl,\"x\"\n";
    static const struct dg_extract_answer answers[] = {{"a, b", 4}, {"\"c\" d", 5}, {"e; f\ng", 6}};
    struct dg_extract *x = NULL;
    struct dg_buffer out;
    (void)state;
    dg_buffer_init(&out);
    assert_int_equal(
        dg_extract_open("a.csv", file, sizeof file - 1, "de", &dg_extract_limits_default, &x, NULL),
        0);
    assert_int_equal(dg_extract_count(x), 2); /* "dog" and "cat" are names */
    dg_extract_close(x);
    assert_int_equal(dg_extract_open("a.csv", file + 4, sizeof file - 5, "de",
                         &dg_extract_limits_default, &x, NULL),
        0);
    assert_int_equal(dg_extract_count(x), 3);
    assert_int_equal(dg_extract_write(x, answers, &out, NULL), 0);
    assert_string_equal(out.data, "\"a, b\"\n\"\"\"c\"\" d\",\"e; f\ng\"\n");
    dg_extract_close(x);
    dg_buffer_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples), cmocka_unit_test(cells_get_quotation_marks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
