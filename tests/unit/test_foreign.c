/* text/protected/foreign.h: characters unknown to a model that knows German's and some others. */
#include "text/protected/foreign.h"
#include "text/protected/protected.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct dg_alphabet *alphabet(void)
{
    static const char read[] = "abcäöüßéà€本ा", first[] = "aü";
    struct dg_alphabet *a = dg_alphabet_open();
    assert_non_null(a);
    assert_true(dg_alphabet_add(a, DG_ALPHABET_READ, read, strlen(read)));
    assert_true(dg_alphabet_add(a, DG_ALPHABET_WRITTEN, read, strlen(read)));
    assert_true(dg_alphabet_add(a, DG_ALPHABET_FIRST, first, strlen(first)));
    return a;
}

/* Compares everything foreign in a text, shown in <>. */
static void expect(const char *text, const char *wanted)
{
    struct dg_alphabet *a = alphabet();
    char found[512] = "";
    size_t n = strlen(text), begin;
    for (size_t end = 0; (end = dg_protected_next(a, text, n, end, &begin)) > 0;) {
        assert_true(begin < end && end <= n);
        strcat(found, "<");
        strncat(found, text + begin, end - begin);
        strcat(found, ">");
    }
    dg_alphabet_close(a);
    assert_string_equal(found, wanted);
}

static void words(void **state)
{
    (void)state;
    expect("Antonín Dvořák was here.", "<Antonín Dvořák>");
    expect("Dvor\u030Ca\u0301k und schön", "<Dvor\u030Ca\u0301k>"); /* r and a caron */
    expect("Lu\u0308\u0301 und scho\u0308n", "<Lu\u0308\u0301>");   /* ü is known, ǘ is not */
    expect("Schöne Grüße, ABC xyz 3.200 co\u00fbt", "<co\u00fbt>");
    expect("Read Война и мир, now.", "<Война и мир>");
    expect("Война, мир", "<Война><мир>");
    expect("in 東京 and 本, 日本語", "<東京><日><語>"); /* 本 is known */
    expect("ＡＢＣ ﬁ ĳ", ""); /* normalisation makes plain letters of these */
    expect("Łódź-Ost", "<Łódź>");
}

static void signs(void **state)
{
    (void)state;
    expect("at 50 ℃, 50℃ or £3.50.", "<℃><50℃><£3.50>");
    expect("a m² of Acme™ (½)", "<m²><Acme™><½>");
    expect("→ Next ★★★", "<→><★★★>");
    expect("30 € and € 30, 30€", ""); /* known, and beside a number */
    expect("the sign € here, §", "<€><§>");
    expect("“Yes” ‘no’ „a“ «b» – — … 5 % of a+b", "");
    expect("1.1.1.1.1½ 1.1.1", "<1.1.1.1.1½>");
}

static void marks(void **state)
{
    (void)state;
    expect("Say ‹abc› or 「abc」, 【a】: ¿b?", "<‹><›><「><」><【><】><¿>");
    expect("‚abc‘ a ‼ b》、 c a‥", "<‚><‼><》、><‥>");
    expect("a‿b a、b 1‐2 well‑known a 、、b", "<、、>"); /* within a word they are left */
    expect("a – b ‑ c ― a", "<‑><―>");
    expect("東京、大阪。", "<東京><、><大阪><。>");
    expect("（a） ＂b＂ ！", ""); /* normalisation makes ASCII of these */
}

static void letters_alone(void **state)
{
    (void)state;
    expect("the letter ö, ü or é.", "<ö><é>");
    expect("the letter q or a 本", "");
    expect("\"ü\", 'ü' or (ü); „ü“, «ü», «\u00A0ü\u00A0»", "<ü><ü><ü><ü><ü><ü>");
    expect("\"üb\", d(ü), (ü)b, \"ü b\", ü', (\"a\")", ""); /* none is a letter by itself */
}

/* Cached results for earlier characters change nothing: in ascending and descending order each
 * character has the result that it has alone. */
static void order_of_letters(void **state)
{
    static char first[0x3000];
    (void)state;
    struct dg_alphabet *a = alphabet();
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0x80; i < 0x3000; i++) {
            const int32_t c = pass ? 0x3000 + 0x7F - i : i;
            char s[4] = {(char)(0xC0 | c >> 6), (char)(0x80 | (c & 0x3F)), 0, 0};
            if (c >= 0x800) {
                s[0] = (char)(0xE0 | c >> 12);
                s[1] = (char)(0x80 | (c >> 6 & 0x3F));
                s[2] = (char)(0x80 | (c & 0x3F));
            }
            const char is = (char)(dg_foreign_end(a, s, 0, strlen(s)) > 0);
            if (pass && is != first[c])
                fail_msg("U+%04X is %d, and was %d", (unsigned)c, is, first[c]);
            first[c] = is;
        }
    }
    assert_int_equal(first[0x212B], 1); /* Angstrom sign: its letter is unknown */
    assert_int_equal(first[0x1E9B], 1); /* a long s with a dot, which the model lacks */
    dg_alphabet_close(a);
}

static bool lost(const char *language, const char *source, const char *target)
{
    struct dg_alphabet *a = alphabet();
    const bool is = dg_foreign_lost(a, language, source, strlen(source), target, strlen(target));
    dg_alphabet_close(a);
    return is;
}

static void is_lost(void **state)
{
    (void)state;
    assert_true(lost("en", "30 € a month", "30 im Monat"));
    assert_false(lost("en", "30 € a month", "30 € im Monat"));
    assert_false(lost("en", "€3 billion", "3 Milliarden Euro"));
    assert_true(lost("en", "It costs $5 / month", "Es kostet 5 / Monat"));
    assert_false(lost("en", "It costs $5", "Es kostet 5 Dollar"));
    assert_false(lost("en", "It costs $5 and £3 and ¥7", "5 $, trois livres, 7 Yen"));
    assert_false(lost("en", "set $name and $", "name"));
    assert_true(lost("en", "the sign ü here", "das Zeichen hier"));
    assert_false(lost("fr", "il va à la gare", "he goes to the station"));
    assert_true(lost("fr", "ř", "r"));
    assert_false(lost("en", "“So” it is – here…", "\"So\" ist es - hier..."));
    assert_false(lost("de", "Grüße", "Greetings"));
    assert_false(lost("fr", "Facture n° 5, N°12, les n\u00BAs 7", "Invoice No. 5, No. 12, no. 7"));
    assert_true(lost("fr", "5° en été", "5 in summer"));
    assert_true(lost("fr", "Bonn° 5", "Bonn 5"));
    assert_true(lost("fr", "la lettre « à » ici", "the letter « a » here"));
    assert_true(lost("en", "the letter (à) here", "das Zeichen (a) hier"));
    assert_true(lost("en", "say ‹abc›", "sag abc"));
    assert_false(lost("de", "\u22125 Grad", "-5 degrees"));
    assert_true(lost("de", "\u22125 Grad", "5 degrees"));
    assert_false(lost("en", "my e‑mail", "meine E-Mail"));
}

/* Time grows linearly with length; nothing is read beyond the end. */
static void anything(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "1.", "ř", "ř ", "€", "a.", "ü ", "\u0301", "日", "1,", "²", "、", "‹", "、a"};
    struct dg_alphabet *a = alphabet();
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        size_t len = strlen(parts[k]), n = (1u << 20) / len * len, begin;
        char *s = malloc(n);
        assert_non_null(s);
        for (size_t i = 0; i < n; i += len)
            memcpy(s + i, parts[k], len);
        for (size_t end = 0; (end = dg_protected_next(a, s, n, end, &begin)) > 0;)
            assert_true(begin < end && end <= n);
        free(s);
    }
    dg_alphabet_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words), cmocka_unit_test(signs),
        cmocka_unit_test(marks), cmocka_unit_test(letters_alone),
        cmocka_unit_test(order_of_letters), cmocka_unit_test(is_lost), cmocka_unit_test(anything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
