/* dg_json_memory against malloc's own count. */
#include "base/json.h"
#include "tests/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <string.h>

/* Compares for an array of TIMES copies of `item`. */
#define TIMES 500

static void compare(const char *item)
{
    struct dg_buffer text;
    struct dg_error err = {0};
    dg_buffer_init(&text);
    for (int i = 0; i < TIMES; i++) {
        dg_buffer_adds(&text, i > 0 ? "," : "[");
        dg_buffer_adds(&text, item);
    }
    dg_buffer_adds(&text, "]");
    dg_json_free(dg_json_parse(text.data, text.len, &err)); /* allocates the thread's block first */
    const size_t before = mallinfo2().uordblks;
    struct dg_json *v = dg_json_parse(text.data, text.len, &err);
    const size_t took = mallinfo2().uordblks - before, counted = dg_json_memory(v);
    assert_non_null(v);
    print_message("%zu bytes of %.20s...: %zu, counted as %zu\n", text.len, item, took, counted);
    if (!SANITIZED && (counted < took || counted > took + took / 4))
        fail_msg("%s: takes %zu, counted as %zu", item, took, counted);
    const size_t most = dg_json_memory_of_text(text.data, text.len);
    if (most < counted || most > 3 * counted)
        fail_msg("%s: counted as %zu, at most %zu by its text", item, counted, most);
    dg_json_free(v);
    dg_buffer_deinit(&text);
}

static void memory_of_each_type(void **state)
{
    static const char *const items[] = {"{}", "[]", "1", "1.5", "\"\"", "\"a\"",
        "\"Two dogs walk along the long road to the sea.\"", "[1,2,3,4,5,6,7,8,9,10]", "{\"a\":1}",
        "{\"a\":{\"b\":[]}}", "\"\\\"{[,:\\\"\"",
        "{\"text\":\"Two dogs walk along the long road to the sea.\",\"source\":\"en\","
        "\"target\":\"de\"}",
        "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9}"};
    (void)state;
    mallopt(M_MXFAST, 0); /* as in the server: freed chunks do not count as used */
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        compare(items[i]);
    assert_int_equal(dg_json_memory(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_of_each_type)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
