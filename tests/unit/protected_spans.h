/* The protected spans of a text, for tests. */
#ifndef DG_TESTS_UNIT_PROTECTED_SPANS_H
#define DG_TESTS_UNIT_PROTECTED_SPANS_H

#include "text/protected/protected.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Compares everything protected in a text, each in <>. */
static inline void expect(const char *text, const char *wanted)
{
    char found[1024] = "";
    size_t n = strlen(text), begin;
    for (size_t end = 0; (end = dg_protected_next(NULL, text, n, end, &begin)) > 0;) {
        assert_true(begin < end && end <= n);
        strcat(found, "<");
        strncat(found, text + begin, end - begin);
        strcat(found, ">");
    }
    assert_string_equal(found, wanted);
}

#endif
