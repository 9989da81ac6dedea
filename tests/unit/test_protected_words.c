/* text/protected/protected.h: words that a translation keeps or writes by rule. */
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

static void names_after_titles(void **state)
{
    (void)state;
    expect("Ich traf Frau Müller-Lüdenscheidt, Herrn Dr. Vogel Bescheid geben",
        "<Müller-Lüdenscheidt><Vogel>");
    expect("I told Mr. John Smith I met (Mrs. O'Hara) and Dr. Hughes.",
        "<John Smith><O'Hara><Hughes>");
    expect("Mme Lefèvre et M. Jean-Luc Dubois", "<Lefèvre><Jean-Luc Dubois>");
    expect("Herr Präsident, Frau Ministerin, Mr. Speaker, Frau Dr. und Herr", "");
    expect("my wife Anna, Mr. and Mr, Herrin Weber, 5 m. Paris", "");
    expect(
        "Eine junge Frau Gitarre, meine Frau Anna, der alte Herr Karten; der Brief von Frau Weber",
        "<Weber>");
    expect("Mr. Brown's car, Mr. John Brown\u2019s, Frau Webers Auto, Frau Webers.", "<Webers>");
}

static void spelt_hours(void **state)
{
    (void)state;
    expect("At half past two, um Viertel vor acht Uhr; à huit heures et demie.",
        "<half past two><Viertel vor acht Uhr><huit heures et demie>");
    expect("Le film dure deux heures et demie. Eine halbe Stunde, half past", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spelt_numbers),
        cmocka_unit_test(code_between_backticks), cmocka_unit_test(names_after_titles),
        cmocka_unit_test(spelt_hours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
