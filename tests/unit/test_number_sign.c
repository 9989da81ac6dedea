/* text/numbers/number_sign.h: signs beside numbers that a translation lacks. */
#include "text/numbers/number_sign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(bool lost, const char *language, const char *s, const char *t)
{
    if (dg_number_sign_lost(language, s, strlen(s), t, strlen(t)) != lost)
        fail_msg("\"%s\", \"%s\": expected %s", s, t, lost ? "a lost sign" : "all signs");
}

static void percent(void **state)
{
    (void)state;
    expect(true, "de", "Only 5% of them", "Nur 5 davon");
    expect(true, "fr", "5 % of them", "5 d'entre eux");
    expect(false, "de", "Only 5% of them", "Nur 5 % davon");
    expect(false, "de-AT", "Only 5% of them", "Nur fünf PROZENT davon");
    expect(false, "fr", "5\u00a0% of them", "5 pour cent d'entre eux");
    expect(false, "en", "eine 5%ige Lösung, %s, % 5", "a solution");
    expect(false, "nl", "5% of them", "5 van hen");
    expect(false, NULL, "5% of them", "5");
}

static void limits(void **state)
{
    (void)state;
    expect(true, "de", "The dose is < 5 mg.", "Die Dosis ist 5 mg.");
    expect(true, "fr", "Take it at >38 degrees.", "Prenez-le à 38 degrés.");
    expect(false, "de", "The dose is < 5 mg.", "Die Dosis ist <5 mg.");
    expect(false, "de", "The dose is < 5 mg.", "Die Dosis ist unter 5 mg.");
    expect(false, "fr", "(>38 degrees)", "supérieur à 38 degrés");
    expect(false, "de", "See <5>, a->5 and x<5.", "Siehe 5.");
    expect(false, "de", "<b>5</b> dogs", "5 Hunde");
}

static void minus(void **state)
{
    (void)state;
    expect(true, "de", "It is -5 degrees.", "Es sind 5 Grad.");
    expect(true, "fr", "-12.5 °C", "12,5 °C");
    expect(false, "de", "It is -5 degrees.", "Es sind –5 Grad.");
    expect(false, "de", "It is -5 degrees.", "Es sind minus 5 Grad.");
    expect(false, "fr", "It is (-5) degrees.", "Il fait \u2212 5 degrés.");
    expect(false, "de", "5 -7 dogs, 5-7 cats, COVID-19, - 5", "5 bis 7 Hunde");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percent), cmocka_unit_test(limits), cmocka_unit_test(minus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
