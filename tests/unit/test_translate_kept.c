/* translate/: text kept unchanged, unknown tokens, addresses, emoji, capitals, and the words in
 * alignments. The model's output is noise; these must be right. */
#include "tests/unit/translate_bundle.h"
#include "text/letter_case.h"
#include "text/utf8.h"

/* A piece unknown to the vocabulary is never shown as the unknown sign: it is copied from the
 * source position with the most attention. */
static void unknown_is_copied(void **state)
{
    (void)state;
    struct dg_translate_options o = {
        .search = {.beam = 1, .alpha = -1, .max_len = 12, .min_len = 12}, .keep_loops = true};
    struct dg_answers a;
    unsigned seen = 0, copied = 0;
    static const char *const texts[] = {"The 漢 house.", "A 漢字 and 語.", "漢漢漢"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct dg_job *j = translated(texts[i], &o, &a);
        assert_null(strstr(a.best[0].text, "\xE2\x81\x87"));
        if (a.flags & DG_FLAG_UNK_COPIED) {
            seen++;
            copied += strstr(a.best[0].text, "漢") != NULL;
        }
        dg_job_free(j);
    }
    assert_true(seen > 0 && copied > 0);
}

/* Flags describe the best answer: what a lower one copied does not count. */
static void unknown_below_the_best_is_no_flag(void **state)
{
    (void)state;
    struct dg_translate_options o = {.search = {.alpha = -1}};
    struct dg_job *j = NULL;
    struct dg_answers a;
    struct dg_error err = {0};
    struct dg_sentence s;
    assert_int_equal(dg_job_encode(translator, "The boat.", 9, &o, &j, &err), 0);
    dg_job_sentence(j, 0, &s);
    int32_t unknown[] = {
        dg_tokenizer_unk(dg_translator_source(translator)), s.source[s.n_source - 1]};
    float logprob[32] = {0};
    assert_true(s.n_source <= 32);
    const struct dg_hypothesis hyps[] = {
        {.ids = s.source, .token_logprob = logprob, .n = s.n_source},
        {.ids = unknown, .token_logprob = logprob, .n = 2}};
    assert_int_equal(dg_job_accept(j, 0, &(struct dg_result){.hyps = hyps, .n_hyps = 2}, &err), 0);
    assert_int_equal(dg_job_finish(j, &a, &err), 0);
    assert_int_equal(a.n_best, 2);
    assert_string_equal(a.best[0].text, "The boat.");
    assert_false(a.flags & DG_FLAG_UNK_COPIED);
    dg_job_free(j);
}

/* A second answer without an alignment must not use the first one's, which has room only for the
 * first one's tokens: fuzzing found a write beyond it. */
static void second_answer_has_its_own_alignment(void **state)
{
    enum { FIRST = 12, SECOND = 60 };
    struct dg_translate_options o = {.search = {.alpha = -1}, .alignments = true};
    struct dg_job *j = NULL;
    struct dg_answers a;
    struct dg_error err = {0};
    struct dg_sentence s;
    int32_t loop[FIRST], other[SECOND], alignment[FIRST];
    float logprob[SECOND] = {0};
    (void)state;
    assert_int_equal(dg_job_encode(translator, "The boat.", 9, &o, &j, &err), 0);
    dg_job_sentence(j, 0, &s);
    for (int i = 0; i < FIRST; i++) {
        loop[i] = i == FIRST - 1 ? s.source[s.n_source - 1] : s.source[0];
        alignment[i] = 0;
    }
    for (int i = 0; i < SECOND; i++) /* each token once: no loop */
        other[i] = i == SECOND - 1 ? s.source[s.n_source - 1] : 10 + i;
    struct dg_hypothesis h = {.ids = loop, .token_logprob = logprob, .n = FIRST};
    struct dg_result r = {.hyps = &h, .n_hyps = 1, .alignment = alignment, .n_source = s.n_source};
    assert_int_equal(dg_job_accept(j, 0, &r, &err), DG_EAGAIN);
    h = (struct dg_hypothesis){.ids = other, .token_logprob = logprob, .n = SECOND};
    r.alignment = NULL;
    assert_int_equal(dg_job_accept(j, 0, &r, &err), 0);
    assert_int_equal(dg_job_finish(j, &a, &err), 0);
    assert_int_equal(a.n_alignments, 0);
    dg_job_free(j);
}

/* A job of two sentences, of which the first has so many answers of different lengths, and the
 * second one. */
static struct dg_job *of_two_sentences(size_t n_first, struct dg_answers *a)
{
    const struct dg_translate_options o = {.search = {.alpha = -1}, .alignments = true};
    const int32_t alignment[32] = {0};
    const float logprob[32] = {0};
    struct dg_job *j = NULL;
    struct dg_error err = {0};
    assert_int_equal(dg_job_encode(translator, "The boat. The sea.", 18, &o, &j, &err), 0);
    assert_int_equal(dg_job_sentences(j), 2);
    for (size_t i = 0; i < 2; i++) {
        struct dg_sentence s;
        dg_job_sentence(j, i, &s);
        assert_true(s.n_source > 2 && s.n_source <= 32);
        const struct dg_hypothesis hyps[] = {
            {.ids = s.source, .token_logprob = logprob, .n = s.n_source},
            {.ids = s.source + s.n_source - 2, .token_logprob = logprob, .n = 2}};
        const struct dg_result r = {.hyps = hyps,
            .n_hyps = i == 0 ? n_first : 1,
            .alignment = alignment,
            .n_source = s.n_source};
        assert_int_equal(dg_job_accept(j, i, &r, &err), 0);
    }
    assert_int_equal(dg_job_finish(j, a, &err), 0);
    return j;
}

/* The best answer's words stay where they are if other answers are shorter, although a sentence
 * with fewer answers is in all of them. */
static void alignments_are_of_the_best_answer(void **state)
{
    struct dg_answers one, two;
    struct dg_job *a = of_two_sentences(1, &one), *b = of_two_sentences(2, &two);
    (void)state;
    assert_int_equal(two.n_best, 2);
    assert_string_equal(one.best[0].text, two.best[0].text);
    assert_true(strlen(two.best[1].text) < strlen(two.best[0].text));
    assert_true(one.n_alignments > 0);
    assert_int_equal(one.n_alignments, two.n_alignments);
    for (size_t i = 0; i < one.n_alignments; i++)
        assert_memory_equal(&one.alignments[i], &two.alignments[i], sizeof one.alignments[i]);
    dg_job_free(a);
    dg_job_free(b);
}

/* Pairs are whole words of both texts, in code points; every sentence has some. */
static void alignments_are_words(void **state)
{
    (void)state;
    static const char text[] = "Überall  Häuser! Where is\tthe sea?";
    struct dg_translate_options o = {
        .search = {.beam = 2, .alpha = -1, .max_len = 8}, .alignments = true};
    struct dg_answers a;
    struct dg_job *j = translated(text, &o, &a);
    assert_true(a.n_alignments >= 2);
    for (size_t i = 0; i < a.n_alignments; i++) {
        const struct dg_answer_pair *p = &a.alignments[i];
        const char *texts[2] = {text, a.best[0].text};
        const size_t ends[2][2] = {
            {p->source_begin, p->source_end}, {p->target_begin, p->target_end}};
        for (int side = 0; side < 2; side++) {
            size_t b = byte_of(texts[side], ends[side][0]), e = byte_of(texts[side], ends[side][1]);
            assert_true(b < e && e <= strlen(texts[side]));
            assert_true(b == 0 || strchr(" \t", texts[side][b - 1]));
            assert_true(!texts[side][e] || strchr(" \t", texts[side][e]));
            assert_null(memchr(texts[side] + b, ' ', e - b));
        }
    }
    dg_job_free(j);
}

static bool same_ids(const struct dg_job *a, const struct dg_job *b)
{
    struct dg_sentence x, y;
    dg_job_sentence(a, 0, &x);
    dg_job_sentence(b, 0, &y);
    return x.n_source == y.n_source && !memcmp(x.source, y.source, x.n_source * sizeof *x.source);
}

/* Text all in capitals is read as the vocabulary's words, and answered in capitals. */
static void capitals_are_read_as_words(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "THE OLD HOUSE IS ON THE HILL.", "The old house is on the hill."};
    struct dg_translate_options o = {
        .search = {.beam = 2, .alpha = -1, .max_len = 12, .n_best = 2}, .alignments = true};
    struct dg_answers a[2];
    struct dg_job *j[2];
    struct dg_buffer upper;
    struct dg_error err = {0};
    for (size_t i = 0; i < 2; i++)
        j[i] = translated(texts[i], &o, &a[i]);
    assert_true(same_ids(j[0], j[1]));
    for (size_t h = 0; h < 2; h++) {
        dg_buffer_init(&upper);
        assert_int_equal(
            dg_letter_case_upper("de", a[1].best[h].text, a[1].best[h].len, &upper, &err), 0);
        assert_int_equal(a[0].best[h].len, upper.len);
        assert_memory_equal(a[0].best[h].text, upper.data, upper.len);
        dg_buffer_deinit(&upper);
    }
    assert_int_equal(a[0].n_alignments, a[1].n_alignments);
    for (size_t i = 0; i < a[0].n_alignments; i++)
        assert_int_equal(a[0].alignments[i].source_begin, a[1].alignments[i].source_begin);
    dg_job_free(j[0]);
    dg_job_free(j[1]);
    o.prefix = "Das"; /* kept as the user wrote it, so its surroundings stay unchanged */
    j[0] = translated(texts[0], &o, &a[0]);
    j[1] = translated(texts[1], &o, &a[1]);
    assert_false(same_ids(j[0], j[1]));
    assert_memory_equal(a[0].best[0].text, "Das", 3);
    dg_job_free(j[0]);
    dg_job_free(j[1]);
}

/* Addresses, placeholders and emoji are in the answer exactly once, whatever the model's output;
 * alone they are copied. */
static void what_has_no_language_is_kept(void **state)
{
    (void)state;
    static const char *const kept[] = {"anna@example.org",
        "https://example.org/"
        "a?b=c#a-fragment-that-is-rather-long-and-longer-than-the-model-is-shown-of-it",
        "{name}", "%1$s", "😀", "config.txt", "7\uFE0F\u20E3"};
    struct dg_translate_options o = {
        .search = {.beam = 2, .alpha = -1, .max_len = 12}, .alignments = true};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        static const char *const around[] = {
            "The old %s house.", "%s is here.", "Write to %s", "%s"};
        for (size_t k = 0; k < sizeof around / sizeof around[0]; k++) {
            char text[256];
            struct dg_answers a;
            snprintf(text, sizeof text, around[k], kept[i]);
            struct dg_job *j = translated(text, &o, &a);
            const char *there = strstr(a.best[0].text, kept[i]);
            assert_non_null(there);
            assert_null(strstr(there + 1, kept[i]));
            check_layout(text, &a);
            if (k == 3)
                assert_string_equal(a.best[0].text, kept[i]);
            for (size_t p = 0; p < a.n_alignments; p++)
                assert_true(a.alignments[p].source_end <= dg_utf8_count(text, strlen(text)));
            dg_job_free(j);
        }
    }
}

/* At the ends of a sentence they are not part of it. */
static void emoji_around_a_sentence_stay_outside(void **state)
{
    (void)state;
    static const char text[] =
        "😀1️⃣ The old house. 🔥 The \xF0\x9F\x98\x80 sea is here! ❤️\n😀";
    struct dg_translate_options o = {.search = {.beam = 2, .alpha = -1, .max_len = 12}};
    struct dg_answers a, bare;
    struct dg_job *j = translated(text, &o, &a), *k = translated("The old house.", &o, &bare);
    size_t n = bare.best[0].len;
    assert_memory_equal(a.best[0].text, "😀1️⃣ ", 12);
    assert_memory_equal(a.best[0].text + 12, bare.best[0].text, n);
    assert_memory_equal(a.best[0].text + 12 + n, " 🔥 ", 6);
    assert_string_equal(a.best[0].text + a.best[0].len - 12, " ❤️\n😀");
    check_layout(text, &a);
    dg_job_free(j);
    dg_job_free(k);
}

/* Nor are addresses that a colon or dash separates from it. */
static void addresses_behind_a_colon_stay_outside(void **state)
{
    (void)state;
    static const char *const behind[] = {
        " https://example.org/1492", " www.example.org. 😀", " anna@example.org  "};
    static const char *const sentences[] = {"The old house:", "The old house –"};
    struct dg_translate_options o = {.search = {.beam = 2, .alpha = -1, .max_len = 12}};
    for (size_t i = 0; i < 6; i++) {
        char text[128];
        struct dg_answers a, bare;
        snprintf(text, sizeof text, "%s%s", sentences[i / 3], behind[i % 3]);
        struct dg_job *j = translated(text, &o, &a), *k = translated(sentences[i / 3], &o, &bare);
        snprintf(text, sizeof text, "%s%s", bare.best[0].text, behind[i % 3]);
        assert_string_equal(a.best[0].text, text);
        dg_job_free(j);
        dg_job_free(k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_is_copied),
        cmocka_unit_test(unknown_below_the_best_is_no_flag),
        cmocka_unit_test(second_answer_has_its_own_alignment),
        cmocka_unit_test(alignments_are_of_the_best_answer),
        cmocka_unit_test(alignments_are_words),
        cmocka_unit_test(capitals_are_read_as_words),
        cmocka_unit_test(what_has_no_language_is_kept),
        cmocka_unit_test(emoji_around_a_sentence_stay_outside),
        cmocka_unit_test(addresses_behind_a_colon_stay_outside),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
