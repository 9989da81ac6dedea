/* What dialects of Markdown add to running text: it stays, and the words in its pairs are
 * translated, into capitals here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "markup_trial.h"

static void attributes(void **state)
{
    (void)state;
    trial_expect_markdown("# A dog {#the-dog .big}\n", "# A DOG {#the-dog .big}\n");
    trial_expect_markdown(
        "A dog {#dog data-a=\"a b\" -}\n===\n", "A DOG {#dog data-a=\"a b\" -}\n===\n");
    trial_expect_markdown("[a dog](#){ .md-button .big }\n", "[A DOG](#){ .md-button .big }\n");
    trial_expect_markdown(
        "see ![a dog](u){ width=300 } here\n", "SEE ![A DOG](u){ width=300 } HERE\n");
    trial_expect_markdown(
        "*a dog*{: .big} is `it`{.c} here\n", "*A DOG*{: .big} IS `it`{.c} HERE\n");
    trial_expect_markdown("a [small *dog*]{.small} here\n", "A [SMALL *DOG*]{.small} HERE\n");
    trial_expect_markdown(
        "a { dog } {is: here} [so] { - }x\n", "A { DOG } {IS: HERE} [SO] { - }X\n");
}

static void formulas(void **state)
{
    (void)state;
    trial_expect_markdown("if $f$ has $a_1 * b_2 * c$, so\n", "IF $f$ HAS $a_1 * b_2 * c$, SO\n");
    trial_expect_markdown(
        "so $\\text{if } x_i$ and $$a^b$$ do\n", "SO $\\text{if } x_i$ AND $$a^b$$ DO\n");
    trial_expect_markdown("| $a_b$ | dog $ |\n|---|---|\n| $c | d$ |\n",
        "| $a_b$ | DOG $ |\n|---|---|\n| $c | D$ |\n");
    trial_expect_markdown("it is $5 or $10, or 5$ (not 6$)\n", "IT IS $5 OR $10, OR 5$ (NOT 6$)\n");
    trial_expect_markdown("from $5, a dog or 10$.\n", "FROM $5, A DOG OR 10$.\n");
    trial_expect_markdown("a\\$b_c$ $ d$\n", "A\\$B_C$ $ D$\n");
    trial_expect_markdown(
        "so $$ E = m c^2 $$ is, $$ and $$ are\n", "SO $$ E = m c^2 $$ IS, $$ AND $$ ARE\n");
}

static void links(void **state)
{
    (void)state;
    trial_expect_markdown("see [[Big dog|the dog]] here\n", "SEE [[Big dog|THE DOG]] HERE\n");
    trial_expect_markdown("see [[Big dog]] and ![[dog.png|100]] here\n",
        "SEE [[Big dog]] AND ![[dog.png|100]] HERE\n");
    trial_expect_markdown("| [[Big dog\\|it]] |\n|---|\n", "| [[Big dog\\|IT]] |\n|---|\n");
    trial_expect_markdown("see [the *dog*]({{< ref \"dog.md\" >}}) here\n",
        "SEE [THE *DOG*]({{< ref \"dog.md\" >}}) HERE\n");
    trial_expect_markdown("see [a dog]({% link dog.md %}) [b]({{ site.url }}/a b.pdf) c\n",
        "SEE [A DOG]({% link dog.md %}) [B]({{ site.url }}/a b.pdf) C\n");
    /* Links of Markdown. */
    trial_expect_markdown(
        "[[a dog]](u) [[b](v)] [[*c* d]](w)\n", "[[A DOG]](u) [[B](v)] [[*C* D]](w)\n");
    trial_expect_markdown("[a]{b} [c](d e [[f\n", "[A]{b} [C](D E [[F\n");
}

static void others(void **state)
{
    (void)state;
    trial_expect_markdown(
        "a ==big *dog*== here, a==b==c, a == b\n", "A ==BIG *DOG*== HERE, A==B==C, A == B\n");
    trial_expect_markdown(
        "press ++ctrl+alt++ in C++ and D++\n", "PRESS ++ctrl+alt++ IN C++ AND D++\n");
    trial_expect_markdown("see @fig-dog, [@smith:2004, p. 5] or me@x\n",
        "SEE @fig-dog, [@smith:2004, P. 5] OR ME@X\n");
    trial_expect_markdown("a %%dog is%% here, 5%% of it%%\n", "A %%dog is%% HERE, 5%% OF IT%%\n");
    trial_expect_markdown(
        "see #pet/dog #a-b, #dog a#b/c # d/e\n", "SEE #pet/dog #a-b, #dog A#B/C # D/E\n");
}

static void ids_of_blocks(void **state)
{
    (void)state;
    trial_expect_markdown("A dog. ^37066d\n\n- a cat ^a-cat\n- a^b\n\n^e1f\n",
        "A DOG. ^37066d\n\n- A CAT ^a-cat\n- A^B\n\n^e1f\n");
    trial_expect_markdown("a ^b c\n\na *b* ^c\n", "A ^B C\n\nA *B* ^c\n");
}

/* The end of each formula is in code here, and was searched for up to the end: 600 KB took 16 s. */
static void formulas_within_code(void **state)
{
    struct dg_document d;
    struct dg_buffer b;
    (void)state;
    dg_buffer_init(&b);
    for (int i = 0; i < 300000; i++)
        dg_buffer_adds(&b, "`$");
    const clock_t before = clock();
    assert_int_equal(dg_document_open(b.data, b.len, DG_FORMAT_MARKDOWN, &d, NULL), DG_OK);
    assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 4);
    dg_document_close(&d);
    dg_buffer_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes),
        cmocka_unit_test(formulas),
        cmocka_unit_test(links),
        cmocka_unit_test(others),
        cmocka_unit_test(ids_of_blocks),
        cmocka_unit_test(formulas_within_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
