#include "base/file.h"
#include "text/detect/builtin.h"
#include "text/detect/cld2.h"
#include "text/detect/detect.h"
#include "text/detect/features.h"
#include "text/detect/langcheck.h"
#include "text/detect/model.h"
#include "trainer/detect/detector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const three[] = {"en", "de", "fr"};

static struct dg_detected detect(const char *const *languages, size_t n, const char *text)
{
    struct dg_detected d;
    memset(&d, 0x5a, sizeof d);
    dg_detect(languages, n, text, strlen(text), &d);
    assert_true(d.language < n && d.confidence >= 0 && d.confidence <= 100);
    return d;
}

/* CLD2 reads the first 100,000 bytes, which end within a character here. For a text that it refuses
 * for a control character it sets no result at all; fuzzing found the uninitialised memory. */
static void test_cut_and_refused(void **state)
{
    static const char words[] =
        "\u043c\u0430\u043c\u0430 \u043c\u044b\u043b\u0430 "
        "\u0440\u0430\u043c\u0443 \u0441\u0435\u0433\u043e\u0434\u043d\u044f. ";
    enum { BYTES = 120000 };
    struct dg_cld2_result r;
    (void)state;
    for (size_t shift = 0; shift < 2; shift++) {
        char *text = malloc(BYTES + sizeof words);
        size_t n = shift;
        assert_non_null(text);
        memset(text, ' ', shift);
        for (; n < BYTES; n += sizeof words - 1)
            memcpy(text + n, words, sizeof words - 1);
        dg_cld2_detect(text, n, NULL, &r);
        assert_string_equal(r.code, "ru");
        assert_string_equal(r.guesses[0].code, "ru");
        free(text);
    }
    memset(&r, 0x5a, sizeof r);
    dg_cld2_detect("The \x01 dog sleeps.", 17, NULL, &r);
    assert_string_equal(r.code, "");
    assert_false(r.reliable);
    for (int i = 0; i < DG_CLD2_GUESSES; i++)
        assert_string_equal(r.guesses[i].code, "");
}

static void test_few_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *language;
    } cases[] = {{"Hello", "en"}, {"Thank you", "en"}, {"Where is the station?", "en"},
        {"don't", "en"}, {"WEATHER", "en"}, {"Danke", "de"}, {"Guten Morgen", "de"},
        {"Wo ist der Bahnhof?", "de"}, {"Straße", "de"}, {"Kühlschrank", "de"}, {"Merci", "fr"},
        {"Bonjour", "fr"}, {"Où est la gare ?", "fr"}, {"l’eau", "fr"}, {"aujourd'hui", "fr"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct dg_detected d = detect(three, 3, cases[i].text);
        if (strcmp(three[d.language], cases[i].language) != 0)
            fail_msg("\"%s\" is called %s", cases[i].text, three[d.language]);
        assert_in_range(d.confidence, 50, 100);
        assert_false(d.doubtful);
    }
}

static void test_restricted(void **state)
{
    (void)state;
    static const char *const two[] = {"fr-CA", "en_GB"}, *const one[] = {"de"};
    const struct dg_detected among_two = detect(two, 2, "Wo ist der Bahnhof?");
    assert_in_range(among_two.confidence, 0, 5); /* neither language */
    assert_int_equal(detect(two, 2, "Où est la gare ?").language, 0);
    assert_int_equal(detect(two, 2, "Where is the station?").language, 1);
    assert_in_range(detect(one, 1, "Wo ist der Bahnhof?").confidence, 95, 100);
    assert_in_range(detect(one, 1, "Where is the station?").confidence, 0, 5);
}

static void test_no_letters(void **state)
{
    (void)state;
    static const char *const none[] = {"", " ", "42", "\xF0\x9F\x98\x80 !", "1.000,00 €"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        const struct dg_detected d = detect(three, 3, none[i]);
        assert_int_equal(d.language, 0);
        assert_int_equal(d.confidence, 0);
        assert_false(d.doubtful);
    }
}

static void test_languages_outside_the_model(void **state)
{
    (void)state;
    static const char *const four[] = {"en", "de", "es", "ru"};
    static const char
        spanish[] = "El comité se reunirá de nuevo el jueves para discutir la nueva propuesta.",
        german[] = "Der Ausschuss wird am Donnerstag erneut über den neuen Vorschlag beraten.";
    assert_int_equal(detect(four, 4, spanish).language, 2);
    assert_in_range(detect(four, 4, spanish).confidence, 80, 100);
    assert_int_equal(detect(four, 4, german).language, 1);
    assert_int_equal(detect(four, 4, "да").language, 3); /* by its script */
    /* None of the three is reported. */
    const struct dg_detected d = detect(three, 3, spanish);
    assert_int_equal(d.confidence, 0);
    assert_true(d.doubtful);
    assert_true(detect(three, 3, "Комитет соберётся в четверг.").doubtful);
}

/* A thread caches the results of its last texts, by text and hint. */
static void test_asked_again(void **state)
{
    enum { TEXTS = 200, HINTS = 3 };
    static struct dg_cld2_result first[TEXTS][HINTS], again;
    static const char *const hints[HINTS] = {"en", "de", NULL};
    static char texts[TEXTS][300];
    (void)state;
    for (size_t i = 0; i < TEXTS; i++)
        snprintf(texts[i], sizeof texts[i], "%s %zu%*s",
            i % 2 ? "Der kleine Hund mit dem roten Ball steht vor dem Haus."
                  : "The little dog with the red ball is in front of the house.",
            i, (int)(i % 7 * 40), ".");
    for (size_t i = 0; i < TEXTS; i++)
        for (size_t h = 0; h < HINTS; h++)
            dg_cld2_detect(texts[i], strlen(texts[i]), hints[h], &first[i][h]);
    for (size_t round = 0; round < 2; round++)
        for (size_t i = TEXTS; i-- > 0;)
            for (size_t h = 0; h < HINTS; h++) {
                dg_cld2_detect(texts[i], strlen(texts[i]), hints[h], &again);
                assert_string_equal(again.code, first[i][h].code);
                assert_int_equal(again.reliable, first[i][h].reliable);
                assert_int_equal(again.bytes, first[i][h].bytes);
                assert_string_equal(again.code, i % 2 ? "de" : "en");
            }
}

static void test_contradicts(void **state)
{
    (void)state;
    static const struct {
        const char *language, *text;
        bool contradicts;
    } cases[] = {{"en", "Wo ist der Bahnhof?", true}, {"de", "Wo ist der Bahnhof?", false},
        {"en-GB", "Where is the station?", false}, {"fr", "Where is the station?", true},
        {"en", "Danke", false}, /* one word may be a name */
        {"en", "Angela Merkel", false}, {"de", "10 µA", false}, {"de", "Ω", false},
        {"de", "Здравствуйте", true},
        {"en", "El comité se reunirá de nuevo el jueves para discutir la propuesta.", true},
        {"es", "El comité se reunirá de nuevo el jueves para discutir la propuesta.", false},
        {"xx", "Where is the station?", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (dg_detect_contradicts(cases[i].language, cases[i].text, strlen(cases[i].text)) !=
            cases[i].contradicts)
            fail_msg("\"%s\" as %s", cases[i].text, cases[i].language);
}

/* Languages that have two codes, of which CLD2 answers with one only. */
static void test_two_codes(void **state)
{
    (void)state;
    static const struct {
        const char *codes[2], *text;
    } cases[] = {
        {{"mo", "ro"}, "Comitetul se va reuni din nou joi pentru a discuta noua propunere a "
                       "guvernului, dar nu știu ce va hotărî."},
        {{"he", "iw"}, "הוועדה תתכנס שוב ביום חמישי כדי לדון בהצעה החדשה של הממשלה."},
        {{"nb", "no"}, "Komiteen møtes igjen på torsdag for å drøfte det nye forslaget, og jeg "
                       "vet ikke hva de kommer til å bestemme seg for."},
        {{"jv", "jw"},
            "Panitia bakal kumpul maneh dina Kemis kanggo ngrembug usulan anyar, nanging "
            "aku ora ngerti apa sing bakal diputusake."},
        {{"fil", "tl"}, "Muling magpupulong ang komite sa Huwebes upang talakayin ang bagong "
                        "panukala ng pamahalaan para sa mga mamamayan."}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < 2; k++) {
            const char *const code = cases[i].codes[k], *const text = cases[i].text;
            const char *const many[] = {"en", "da", "de", code, "sv", "hr", "id", "es", "ar"};
            const size_t n = sizeof many / sizeof *many;
            if (!dg_cld2_knows(code) || dg_langcheck_wrong(text, strlen(text), code) ||
                dg_detect_contradicts(code, text, strlen(text)))
                fail_msg("a text in %s is called another language", code);
            const struct dg_detected d = detect(many, n, text);
            if (d.language != 3 || d.confidence < 80 || d.doubtful)
                fail_msg("%s is called %s (%d)", code, many[d.language], d.confidence);
            if (!dg_langcheck_wrong(cases[(i + 1) % 5].text, strlen(cases[(i + 1) % 5].text), code))
                fail_msg(
                    "a text in %s is not called another language", cases[(i + 1) % 5].codes[0]);
        }
}

static void count(void *ctx, uint32_t bucket)
{
    assert_true(bucket < DG_DETECT_BUCKETS);
    (*(size_t *)ctx)++;
}

static void test_features(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t words, features;
    } cases[] = {
        {"", 0, 0}, {"12 !?", 0, 0},
        /* " a ": features of one letter: a; of two: " a", "a "; of three: " a "; and the word */
        {"a", 1, 5}, {"a b", 2, 10}, {"a-b", 2, 10}, {"'a'", 1, 9} /* "a'" */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n = 0;
        const char *s = cases[i].text;
        assert_int_equal(dg_detect_features(s, strlen(s), count, &n), cases[i].words);
        assert_int_equal(n, cases[i].features);
    }
    char many[1001];
    for (size_t i = 0; i < 1000; i += 2)
        memcpy(many + i, "a ", 3);
    size_t n = 0;
    assert_int_equal(dg_detect_features(many, 1000, count, &n), DG_DETECT_WORDS);
    memset(many, 'a', 1000); /* one word, of which only the beginning counts */
    n = 0;
    assert_int_equal(dg_detect_features(many, 1000, count, &n), 1);
    assert_true(n < 300);
}

static void test_model_file(void **state)
{
    (void)state;
    struct dg_detect_model m;
    struct dg_error err = {0};
    unsigned char *bytes = malloc(dg_detect_builtin_size);
    assert_non_null(bytes);
    assert_in_range(dg_detect_builtin_size, 1, 300 * 1024);
    assert_int_equal(dg_detect_model_read(dg_detect_builtin, dg_detect_builtin_size, &m, &err), 0);
    assert_int_equal(m.n, 3);
    static const size_t damaged[] = {0, 8, 14, 19, 20}; /* magic, both counts, scale, a code */
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        memcpy(bytes, dg_detect_builtin, dg_detect_builtin_size);
        bytes[damaged[i]] = i == 3 ? 0xff : 0;
        dg_error_clear(&err);
        assert_int_equal(dg_detect_model_read(bytes, dg_detect_builtin_size, &m, &err), DG_EFORMAT);
        assert_non_null(strstr(err.message, "language model"));
    }
    for (size_t n = 0; n < 100; n++)
        assert_int_equal(dg_detect_model_read(dg_detect_builtin, n, &m, NULL), DG_EFORMAT);
    free(bytes);
}

/* Writes a text in one of two made-up languages: one has only a's and b's, the other x's and
 * y's. */
static void write_text(const char *path, const char *letters)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (unsigned i = 0; i < 500; i++) {
        for (unsigned k = 0; k < 12; k++)
            fputc(k % 4 == 3 ? ' ' : letters[(i >> k) & 1], f);
        fputc('\n', f);
    }
    fclose(f);
}

static void test_trained(void **state)
{
    (void)state;
    char dir[] = "/tmp/dragoman-detect-XXXXXX", ab[64], xy[64], out[64], first[80], second[80];
    assert_non_null(mkdtemp(dir));
    snprintf(ab, sizeof ab, "%s/ab", dir);
    snprintf(xy, sizeof xy, "%s/xy", dir);
    snprintf(out, sizeof out, "%s/out", dir);
    write_text(ab, "ab");
    write_text(xy, "xy");
    snprintf(first, sizeof first, "aa=%s", ab);
    snprintf(second, sizeof second, "zh-Hant=%s", xy);
    const char *texts[] = {first, second};
    struct dg_make_detector o = {.texts = texts, .n = 2, .out = out, .examples = 2000};
    struct dg_made_detector made;
    struct dg_error err = {0};
    assert_int_equal(dg_detector_make(&o, &made, &err), 0);
    assert_int_equal(made.languages, 2);
    assert_int_equal(made.lines, 1000);
    assert_true(made.loss < 0.01);
    struct dg_buffer b;
    struct dg_detect_model m;
    double logits[DG_DETECT_LANGUAGES];
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(out, &b, &err), 0);
    assert_int_equal(dg_detect_model_read((const unsigned char *)b.data, b.len, &m, &err), 0);
    assert_string_equal(m.codes[1], "zh-Hant");
    assert_int_equal(dg_detect_model_logits(&m, "abba", 4, logits), 1);
    assert_true(logits[0] > logits[1] + 3);
    assert_int_equal(dg_detect_model_logits(&m, "YX xx", 5, logits), 2);
    assert_true(logits[1] > logits[0] + 3);
    o.n = 1;
    assert_int_equal(dg_detector_make(&o, &made, &err), DG_EINVAL);
    dg_error_clear(&err);
    o.n = 2;
    o.out = xy;
    assert_int_equal(dg_detector_make(&o, &made, &err), DG_EINVAL);
    assert_non_null(strstr(err.message, "/xy is an input: it would be overwritten"));
    dg_error_clear(&err);
    texts[1] = "nothing";
    assert_int_equal(dg_detector_make(&o, &made, &err), DG_EINVAL);
    assert_non_null(strstr(err.message, "CODE=FILE"));
    dg_buffer_deinit(&b);
    unlink(ab);
    unlink(xy);
    unlink(out);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few_words),
        cmocka_unit_test(test_cut_and_refused), cmocka_unit_test(test_restricted),
        cmocka_unit_test(test_no_letters), cmocka_unit_test(test_languages_outside_the_model),
        cmocka_unit_test(test_contradicts), cmocka_unit_test(test_asked_again),
        cmocka_unit_test(test_two_codes), cmocka_unit_test(test_features),
        cmocka_unit_test(test_model_file), cmocka_unit_test(test_trained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
