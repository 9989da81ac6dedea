/* What GitHub and Obsidian add to Markdown: alerts and formulas. Their words are translated, into
 * capitals here, and their signs stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "markup_trial.h"

static void alerts(void **state)
{
    (void)state;
    trial_expect_markdown("> [!warning]\n> Do not open.\n", "> [!warning]\n> DO NOT OPEN.\n");
    trial_expect_markdown(
        "> [!note]  \n> Two *dogs*\n> play.\n", "> [!note]  \n> TWO *DOGS*\n> PLAY.\n");
    trial_expect_markdown("> [!note]\n>\n> *Two* dogs\n", "> [!note]\n>\n> *TWO* DOGS\n");
    trial_expect_markdown("> [!note]\n> *Two* dogs\n", "> [!note]\n> *TWO* DOGS\n");
    trial_expect_markdown("> [!note]\n> - Two dogs\n", "> [!note]\n> - TWO DOGS\n");
    trial_expect_markdown("> [!note]\n> [^1]: Two dogs\n", "> [!note]\n> [^1]: TWO DOGS\n");
    trial_expect_markdown("> [!note]\n", "> [!note]\n");
    /* Obsidian's have titles, and may be folded. */
    trial_expect_markdown("> [!faq]- Open *it*?\n> Do not.\n", "> [!faq]- OPEN *IT*?\n> DO NOT.\n");
    trial_expect_markdown("> [!faq]+\n> Do not.\n", "> [!faq]+\n> DO NOT.\n");
    trial_expect_markdown("> [!my_own-1] Title\n", "> [!my_own-1] TITLE\n");
    /* Not alerts: brackets of the text, and a link. */
    trial_expect_markdown("> [!] a [!b c] d\n", "> [!] A [!B C] D\n");
    trial_expect_markdown("> [!a](u) b\n", "> [!A](u) B\n");
}

/* An alert's title is a text of its own, which the next line does not continue. */
static void titles(void **state)
{
    (void)state;
    struct dg_document doc;
    const char *const text = "> [!faq] Open it?\n> Do not\n> open it.\n";
    assert_int_equal(dg_document_open(text, strlen(text), DG_FORMAT_MARKDOWN, &doc, NULL), 0);
    assert_int_equal(doc.n_units, 2);
    assert_memory_equal(doc.text.data, "Open it?Do not open it.", doc.text.len);
    dg_document_close(&doc);
}

static void formulas(void **state)
{
    (void)state;
    trial_expect_markdown("Text:\n\n$$\nE = mc^2 \\text{ where } m_1 * n_1 * k\n$$\n\nText\n",
        "TEXT:\n\n$$\nE = mc^2 \\text{ where } m_1 * n_1 * k\n$$\n\nTEXT\n");
    trial_expect_markdown("$$a \\\\ b$$\n", "$$a \\\\ b$$\n");
    trial_expect_markdown("- a\n\n  $$\n  b\n  $$\n- c\n", "- A\n\n  $$\n  b\n  $$\n- C\n");
    trial_expect_markdown("> $$\n> b\n> $$\n\nc\n", "> $$\n> b\n> $$\n\nC\n");
    /* Not formulas. */
    trial_expect_markdown("$$ a $$ is $$ b $$\n", "$$ A $$ IS $$ B $$\n");
    trial_expect_markdown("$$ is much\n", "$$ IS MUCH\n");
    trial_expect_markdown("$5 and $10 a\n", "$5 AND $10 A\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alerts), cmocka_unit_test(titles), cmocka_unit_test(formulas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
