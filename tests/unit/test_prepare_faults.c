/* What prepare refuses: files that do not match the recipe. Every file is made from one good
 * one. */
#include "tests/unit/prepare_corpus.h"
#include "trainer/prepare/prepare_internal.h"

enum { LINES = 1200 };

/* Adds lines of words that occur only in this order: neighbours share few. */
static void add_line(struct dg_buffer *s, struct dg_buffer *t, unsigned i)
{
    static const char *const stem[] = {"bal", "cor", "dum", "fen", "gil", "hap", "jor", "kul"};
    for (unsigned k = 0; k < 6; k++) {
        const unsigned x = (i * 2654435761u + k * 40503u) >> (k + 3);
        const char *a = stem[x % 8], *b = stem[x / 8 % 8], *c = stem[x / 64 % 8];
        dg_buffer_addf(s, "%s%s%s%s", k ? " " : "", a, b, c);
        dg_buffer_addf(t, "%s%s%s%sö", k ? " " : "", c, b, a);
    }
    dg_buffer_addf(s, " %u\n", i + 1000); /* as with names and numbers: the same on both sides */
    dg_buffer_addf(t, " %u\n", i + 1000);
}

/* Prepares source and target unchanged; returns the error message, or "" on success. */
static const char *message(const struct dg_buffer *s, const struct dg_buffer *t, const char *more)
{
    static struct dg_error err;
    char text[512];
    struct dg_recipe *r;
    write_text("train.en", s);
    write_text("train.de", t);
    snprintf(text, sizeof text,
        "{\"preset\":\"small\",\"vocabulary\":{\"size\":400},\"cleaning\":{%s},"
        "\"data\":{\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":\"de\",\"train\":["
        "{\"source\":\"train.en\",\"target\":\"train.de\"}]}]}}",
        more);
    memset(&err, 0, sizeof err);
    assert_int_equal(dg_recipe_parse(text, strlen(text), "", folder, &r, &err), 0);
    const int rc = prepare(r, in_folder("out"), 2, NULL, &err);
    dg_recipe_free(r);
    assert_true(rc == 0 || rc == DG_EINVAL);
    return rc ? err.message : "";
}

static void expect(const char *got, const char *const *parts)
{
    for (; *parts; parts++)
        if (!strstr(got, *parts))
            fail_msg("\"%s\" is not in \"%s\"", *parts, got);
}

#define EXPECT(got, ...) expect(got, (const char *const[]){__VA_ARGS__, NULL})
#define PLAIN "\"language_check\":false"

static void test_shifted(void **state)
{
    (void)state;
    struct dg_buffer s, t, other;
    dg_buffer_init(&s);
    dg_buffer_init(&t);
    dg_buffer_init(&other);
    for (unsigned i = 0; i < LINES; i++)
        add_line(&s, &t, i);
    assert_string_equal(message(&s, &t, PLAIN), "");
    /* All of it shifted by one line. */
    dg_buffer_adds(&other, "gul gul gul gul gul gul\n");
    dg_buffer_add(&other, t.data, t.len);
    dg_buffer_adds(&s, "one more\n");
    EXPECT(message(&s, &other, PLAIN), "train.en and train.de do not belong together",
        "the target is one line late");
    assert_string_equal(message(&s, &other, PLAIN ",\"check_relation\":false"), "");
    /* Shifted from the middle on. */
    dg_buffer_reset(&other);
    const char *middle = t.data + t.len / 2;
    middle = strchr(middle, '\n') + 1;
    const char *next = strchr(middle, '\n') + 1;
    dg_buffer_add(&other, t.data, (size_t)(middle - t.data));
    dg_buffer_add(&other, next, t.len - (size_t)(next - t.data));
    dg_buffer_adds(&other, "x\nx\n");
    EXPECT(message(&s, &other, PLAIN), "do not belong together", "of 1200 pairs of lines");
    /* With enough lines the message says where. */
    dg_buffer_reset(&s);
    dg_buffer_reset(&t);
    for (unsigned i = 0; i < 4 * LINES; i++) {
        add_line(&s, &t, i);
        if (i == 2100)
            dg_buffer_adds(&t, "one more\n");
    }
    dg_buffer_adds(&s, "one more\n");
    EXPECT(message(&s, &t, PLAIN), "from pair 2001 on", "the target is one line late");
    dg_buffer_deinit(&s);
    dg_buffer_deinit(&t);
    dg_buffer_deinit(&other);
}

static void test_too_many_faults(void **state)
{
    (void)state;
    struct dg_buffer s, t;
    dg_buffer_init(&s);
    dg_buffer_init(&t);
    for (unsigned i = 0; i < LINES; i++) {
        add_line(&s, &t, i);
        if (i % 5 == 1)
            t.data[t.len - 8] = (char)0xF6; /* ö of Latin-1, and a letter after it */
        if (i % 5 == 1)
            t.data[t.len - 7] = (char)0x78;
        if (i == 7) {
            dg_buffer_adds(&s, "\n");
            dg_buffer_adds(&t, "leer\n");
        }
    }
    EXPECT(message(&s, &t, PLAIN ",\"max_dropped\":0.1"), "train.en, train.de: 241 of 1201 pairs",
        "not_utf8 240, empty 1", "cleaning.max_dropped (0.1)", "not_utf8 for example is line 2",
        "Latin-1", "iconv");
    EXPECT(message(&s, &t, PLAIN), "241 of 1201"); /* 20 % is the default */
    assert_string_equal(message(&s, &t, PLAIN ",\"max_dropped\":0.21"), "");
    dg_buffer_deinit(&s);
    dg_buffer_deinit(&t);
}

/* A message has an end: what to do comes before the example. */
static void test_advice_is_not_cut(void **state)
{
    (void)state;
    const struct dg_recipe r = {.cleaning.max_dropped = 0.2};
    const struct dg_recipe_file f = {.source = "corpora/opus/OpenSubtitles.de-en.raw.en",
        .target = "corpora/opus/OpenSubtitles.de-en.raw.de"};
    static struct dg_prepare_count c = {.read = 22512639};
    struct dg_error err = {0};
    for (int why = DG_KEEP + 1; why <= DG_DROP_LANGUAGE; why++)
        c.by[why] = 123456;
    c.by[DG_DROP_UTF8] = 9876543;
    c.examples[DG_DROP_UTF8].line = 1234567;
    for (int side = 0; side < 2; side++)
        memset(c.examples[DG_DROP_UTF8].text[side], 'x', sizeof c.examples[0].text[0] - 1);
    assert_int_equal(dg_prepare_faults(&r, &f, &c, &err), DG_EINVAL);
    EXPECT(err.message, "not_utf8 9876543", "allows; it looks like Latin-1",
        "iconv -f WINDOWS-1252 -t UTF-8 converts it; not_utf8 for example is line 1234567");
}

/* A table's lines, such as source and target in one file, are not one sentence each. */
static void test_columns(void **state)
{
    (void)state;
    struct dg_buffer s, t, both;
    dg_buffer_init(&s);
    dg_buffer_init(&t);
    dg_buffer_init(&both);
    for (unsigned i = 0; i < LINES; i++) {
        const size_t begin[2] = {s.len, t.len};
        add_line(&s, &t, i);
        dg_buffer_add(&both, s.data + begin[0], s.len - begin[0] - 1);
        /* Half of the lines may have a tab, and all may have one at an end. */
        dg_buffer_adds(&both, i % 2 ? "\t" : " ");
        dg_buffer_add(&both, t.data + begin[1], t.len - begin[1] - 1);
        dg_buffer_adds(&both, "\t\r\n");
    }
    assert_string_equal(message(&s, &both, PLAIN), "");
    for (size_t i = 0; i < both.len / 50; i++)
        if (both.data[i] == '\n')
            both.data[i + 3] = '\t';
    EXPECT(message(&s, &both, PLAIN), "train.de: 6", "of 1200 lines have columns", "cut -f1");
    EXPECT(message(&both, &t, PLAIN), "train.en: 6", "of 1200 lines have columns");
    assert_string_equal(message(&s, &both, PLAIN ",\"max_dropped\":1"), "");
    dg_buffer_deinit(&s);
    dg_buffer_deinit(&t);
    dg_buffer_deinit(&both);
}

static void test_swapped(void **state)
{
    (void)state;
    static const char *const en[] = {"The children are playing in the garden behind the old house.",
        "Please tell me when the next train to the city leaves."};
    static const char *const de[] = {"Die Kinder spielen im Garten hinter dem alten Haus.",
        "Bitte sagen Sie mir, wann der nächste Zug in die Stadt fährt."};
    struct dg_buffer s, t;
    dg_buffer_init(&s);
    dg_buffer_init(&t);
    for (unsigned i = 0; i < 40; i++) {
        dg_buffer_addf(&s, "%s %u\n", de[i % 2], i + 10);
        dg_buffer_addf(&t, "%s %u\n", en[i % 2], i + 10);
    }
    EXPECT(message(&s, &t, ""), "language 40", "source and target are swapped", "Die Kinder");
    dg_buffer_reset(&t);
    for (unsigned i = 0; i < 40; i++)
        dg_buffer_addf(&t, "%s %u\n", de[1 - i % 2], i + 10);
    EXPECT(message(&s, &t, ""), "language 40", "is it in the languages that the recipe says?");
    dg_buffer_deinit(&s);
    dg_buffer_deinit(&t);
}

/* No training pair shares eight words in a row with a held-out line, in either language. */
static void test_near_copies(void **state)
{
    (void)state;
    static const char *held[] = {"held.txt"};
    struct dg_buffer s, t, lines;
    struct dg_prepared *p;
    struct dg_recipe *r;
    struct dg_error err = {0};
    dg_buffer_init(&s);
    dg_buffer_init(&t);
    dg_buffer_init(&lines);
    for (unsigned i = 0; i < LINES; i++)
        add_line(&s, &t, i);
    dg_buffer_adds(&s, "Yesterday one two three four five six seven eight of them\nx y z\nseven "
                       "words one two three four five six\n");
    dg_buffer_adds(
        &t, "gestern\nneun zehn elf zwölf dreizehn vierzehn fünfzehn SECHZEHN\nsieben\n");
    dg_buffer_adds(&lines, "One two three four five six seven eight.\n"
                           "Ja: neun, zehn, elf, zwölf, dreizehn, vierzehn, fünfzehn, sechzehn!\n");
    write_text("train.en", &s);
    write_text("train.de", &t);
    write_text("held.txt", &lines);
    for (int words = 8; words >= 0; words -= 8) {
        char text[512];
        snprintf(text, sizeof text,
            "{\"preset\":\"small\",\"vocabulary\":{\"size\":400},\"cleaning\":{\"language_check\":"
            "false,\"max_char_ratio\":0,\"max_token_ratio\":0,\"near_copies\":%d},\"data\":{"
            "\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":\"de\",\"train\":["
            "{\"source\":\"train.en\",\"target\":\"train.de\"}]}]}}",
            words);
        assert_int_equal(dg_recipe_parse(text, strlen(text), "", folder, &r, &err), 0);
        r->data.held_out = held;
        r->data.n_held_out = 1;
        if (prepare(r, in_folder("near"), 2, NULL, &err) ||
            dg_prepared_open(in_folder("near"), &p, &err))
            fail_msg("%s", err.message);
        assert_int_equal(dropped(p, "near_copy"), words ? 2 : 0);
        assert_int_equal(dropped(p, "kept"), words ? LINES + 1 : LINES + 3);
        dg_prepared_close(p);
        dg_recipe_free(r);
    }
    dg_buffer_deinit(&s);
    dg_buffer_deinit(&t);
    dg_buffer_deinit(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shifted),
        cmocka_unit_test(test_too_many_faults),
        cmocka_unit_test(test_advice_is_not_cut),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_swapped),
        cmocka_unit_test(test_near_copies),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
