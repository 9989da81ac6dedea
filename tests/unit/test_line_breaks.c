/* Where lines may end: in scripts with spaces at these alone, in others between words or signs. */
#include "text/sentences/line_breaks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* wanted: the text with "|" for each break and the white space there. */
static void expect(const char *text, const char *wanted)
{
    struct dg_line_break *list = NULL;
    size_t n = 0, at = 0;
    char got[512] = "";
    assert_int_equal(dg_line_breaks(text, strlen(text), &list, &n, NULL), DG_OK);
    for (size_t i = 0; i < n; at = list[i++].next) {
        strncat(got, text + at, list[i].end - at);
        strcat(got, "|");
    }
    strcat(got, text + at);
    assert_string_equal(got, wanted);
    free(list);
}

static void breaks(void **state)
{
    (void)state;
    expect("", "");
    expect("A", "A");
    expect("A dog,  well-known,\nand/or 1,000 cats\u2014here.",
        "A|dog,|well-known,|and/or|1,000|cats\u2014here.");
    expect("Ah\u00A0! 10\u00A0%", "Ah\u00A0!|10\u00A0%");
    expect("\u6211\u4EEC\uFF0C\u4F4F\u3002", "\u6211|\u4EEC\uFF0C|\u4F4F\u3002");
    expect("\u300C\u306F\u3044\u300DiPhone\u3092", "\u300C\u306F|\u3044\u300D|iPhone|\u3092");
    expect("\u0E09\u0E31\u0E19\u0E23\u0E31\u0E01\u0E04\u0E38\u0E13",
        "\u0E09\u0E31\u0E19|\u0E23\u0E31\u0E01|\u0E04\u0E38\u0E13");
    expect("\u092F\u0939 \u0915\u093F\u0924\u093E\u092C \u0939\u0948",
        "\u092F\u0939|\u0915\u093F\u0924\u093E\u092C|\u0939\u0948");
    /* Hyphens do not divide words in any script with spaces. */
    expect("\u090F\u0915-\u0926\u0942\u0938\u0930\u0947 \u0938\u0947",
        "\u090F\u0915-\u0926\u0942\u0938\u0930\u0947|\u0938\u0947");
    expect(
        "\u05D1\u05D9\u05EA\u05BE\u05E1\u05E4\u05E8", "\u05D1\u05D9\u05EA\u05BE\u05E1\u05E4\u05E8");
    expect("Donau\u00ADdampf", "Donau\u00ADdampf");
    /* Korean has spaces, also where it uses Chinese letters and brackets. */
    expect("\uB098\uB294 \uD559\uAD50\uC5D0 \uAC04\uB2E4.",
        "\uB098\uB294|\uD559\uAD50\uC5D0|\uAC04\uB2E4.");
    expect("\u300E\uCC45\u300F\uC744 \u5927\u97D3\uC740",
        "\u300E\uCC45\u300F\uC744|\u5927|\u97D3\uC740");
    /* Tibetan: after the dot that ends a syllable */
    expect("\u0F56\u0F7C\u0F51\u0F0B\u0F61\u0F72\u0F42",
        "\u0F56\u0F7C\u0F51\u0F0B|\u0F61\u0F72\u0F42");
    expect("\uFF76\uFF85", "\uFF76|\uFF85");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(breaks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
