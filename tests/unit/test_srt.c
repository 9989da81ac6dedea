/* What models see of the lines of subtitles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text/format/document.h"

/* Checks the texts of a cue with these lines, each with a "|" after it. */
static void expect(const char *lines, const char *want)
{
    struct dg_document d;
    struct dg_error err = {0};
    struct dg_buffer cue, got;
    dg_buffer_init(&cue);
    dg_buffer_init(&got);
    dg_buffer_addf(&cue, "0:01 --> 0:02\n%s\n", lines);
    assert_int_equal(dg_document_open(cue.data, cue.len, DG_FORMAT_SRT, &d, &err), DG_OK);
    for (size_t i = 0; i < d.n_units; i++) {
        dg_buffer_add(&got, d.text.data + d.units[i].at, d.units[i].end - d.units[i].at);
        dg_buffer_adds(&got, "|");
    }
    assert_string_equal(got.data, want);
    dg_document_close(&d);
    dg_buffer_deinit(&cue);
    dg_buffer_deinit(&got);
}

static void dashes_of_speakers(void **state)
{
    (void)state;
    expect("-Who?\n- Me.", "Who?|- Me.|");
    expect("\xE2\x80\x93Who?\n\xE2\x80\x94Me.", "Who?|Me.|");
    expect("<i>-Who?</i>\n<i>-Me.</i>", "Who?|Me.|");
    expect("{\\an8}- Who?\n{\\an8}- Me.", "- Who?|- Me.|");
    expect("--so\nit is", "--so it is|");
    expect("-5 or -x", "-5 or -x|");
}

static void marks_of_direction(void **state)
{
    (void)state;
    expect("&lrm;A dog.&rlm;\n&lrm;-Two?", "A dog.|Two?|");
    expect("A &amp; B &lrm", "A &amp; B &lrm|");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dashes_of_speakers),
        cmocka_unit_test(marks_of_direction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
