/* text/protected.h: words that a translation keeps or writes by rule. */
#include "tests/unit/protected_spans.h"

static void spelt_numbers(void **state)
{
    (void)state;
    expect("Forty-seven dogs, twenty people (NINETY-ONE), fifteen percent: sixty.",
        "<Forty-seven><twenty><NINETY-ONE><fifteen><sixty>");
    expect("siebenundvierzig Hunde und Dreißig, dreizehn", "<siebenundvierzig><Dreißig><dreizehn>");
    expect("quatre-vingt-dix-neuf, vingt et une, soixante et onze, vingt pour cent, seize",
        "<quatre-vingt-dix-neuf><vingt et une><soixante et onze><vingt><seize>");
    expect("two hundred and fifty, twenty thousand, twenty-first, nineteen fifty, twelve, one", "");
    expect("fifty-year-old, fünfzigste, zwanzig Uhr, vingt heures, trente cents, deux cent trente",
        "");
    expect("thirties, twentyfold, zwanzigmal, seizeième, Seizeé, xsixty, quatre, dix", "");
}

static void code_between_backticks(void **state)
{
    (void)state;
    expect("Run `make serve` first, then (`git commit -m \"x\"`).",
        "<`make serve`><`git commit -m \"x\"`>");
    expect("`ls`", "<`ls`>");
    expect("l`homme et l`enfant, ``quoted'' and ` x `, `y\nz`, ``, `a`b", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spelt_numbers), cmocka_unit_test(code_between_backticks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
