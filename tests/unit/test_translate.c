/* translate/: planning and joining of texts. The model's output is noise; layout, offsets, limits
 * and flags must be right. */
#include "tests/unit/translate_bundle.h"
#include "text/utf8.h"

static void layout_is_kept(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t sentences;
    } cases[] = {
        {"One house. Two houses.", 2},
        {"  A small boat.\r\n\r\n\t- First item\r\n\t- Second item\r\n", 3},
        {"Überall Häuser! Où est la mer?", 2},
        {"no end", 1},
    };
    struct dg_translate_options o = {.search = {.beam = 2, .alpha = -1, .max_len = 6}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dg_answers a;
        struct dg_job *j = translated(cases[i].text, &o, &a);
        assert_int_equal(a.n_sentences, cases[i].sentences);
        check_layout(cases[i].text, &a);
        assert_int_equal(a.source_characters, dg_utf8_count(cases[i].text, strlen(cases[i].text)));
        assert_true(a.source_tokens > a.n_sentences);
        dg_job_free(j);
    }
}

/* Without letters there is nothing to translate. */
static void letterless_comes_back(void **state)
{
    (void)state;
    static const char *const cases[] = {"", " \n", "12:30 + 45 = 57!", "😀👍", "— …"};
    struct dg_translate_options o = {.search = {.alpha = -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dg_answers a;
        struct dg_job *j = translated(cases[i], &o, &a);
        assert_int_equal(dg_job_sentences(j), 0);
        assert_string_equal(a.best[0].text, cases[i]);
        assert_int_equal(a.target_tokens, 0);
        dg_job_free(j);
    }
}

/* Over the piece limit a sentence is split and flagged, and all of it is translated. */
static void long_sentences_are_split(void **state)
{
    (void)state;
    char text[3000] = "";
    for (int i = 0; i < 60; i++)
        strcat(text, i % 7 == 6 ? "the old house near the sea, " : "the old house near the sea ");
    strcat(text, "stands.");
    struct dg_translate_options o = {
        .search = {.beam = 1, .alpha = -1, .max_len = 4}, .max_source = 24};
    struct dg_answers a;
    struct dg_job *j = translated(text, &o, &a);
    assert_true(a.n_sentences > 10);
    assert_true(a.flags & DG_FLAG_SPLIT);
    check_layout(text, &a);
    size_t covered = 0;
    for (size_t i = 0; i < dg_job_sentences(j); i++) {
        struct dg_sentence s;
        dg_job_sentence(j, i, &s);
        assert_true(s.n_source <= 24);
        covered += s.n_source - 1;
    }
    /* As many pieces as in the unsplit text, except for words cut in the middle. */
    struct dg_token *tokens;
    size_t n;
    assert_int_equal(dg_tokenizer_encode(
                         dg_translator_source(translator), text, strlen(text), &tokens, &n, NULL),
        0);
    free(tokens);
    assert_true(covered >= n);
    dg_job_free(j);

    /* Without a given limit the model's positions are the limit: here 200. */
    assert_true(n > 200);
    o.max_source = 0;
    j = translated(text, &o, &a);
    assert_true(a.n_sentences > 1 && a.flags & DG_FLAG_SPLIT);
    check_layout(text, &a);
    dg_job_free(j);

    /* A single word that is too long is cut between code points. */
    memset(text, 'q', 2000);
    text[2000] = '\0';
    j = translated(text, &o, &a);
    assert_true(a.flags & DG_FLAG_SPLIT);
    check_layout(text, &a);
    dg_job_free(j);
}

/* The tokenizer never gets more than some kilobytes at once, however few pieces they are: what can
 * be split is, and the rest is refused by name. */
static void the_tokenizer_is_given_little_at_once(void **state)
{
    (void)state;
    const size_t n = 20000;
    char *text = calloc(1, n + 1);
    struct dg_translate_options o = {.search = {.beam = 1, .alpha = -1, .max_len = 4}};
    struct dg_answers a;
    struct dg_job *j = NULL;
    struct dg_error err = {0};
    for (size_t i = 1; i + 1 < n; i += 2)
        memcpy(text + i, "\u00A0", 2); /* one piece for the tokenizer */
    memcpy(text, "the", 3);
    memcpy(text + n - 3, "sea", 3);
    j = translated(text, &o, &a);
    assert_int_equal(a.n_sentences, 2);
    assert_true(a.flags & DG_FLAG_SPLIT);
    dg_job_free(j);
    assert_int_equal(
        dg_job_encode_score(translator, &(struct dg_text_pair){text, "x", n, 1}, &o, &j, &err),
        DG_ELIMIT);
    assert_string_equal(err.field, "text");
    dg_error_clear(&err);
    assert_int_equal(
        dg_job_encode_score(translator, &(struct dg_text_pair){"x", text, 1, n}, &o, &j, &err),
        DG_ELIMIT);
    assert_string_equal(err.field, "translation");
    dg_error_clear(&err);
    o.prefix = text;
    assert_int_equal(dg_job_encode(translator, "x", 1, &o, &j, &err), DG_ELIMIT);
    assert_string_equal(err.field, "target_prefix");
    free(text);
}

static void n_best_and_scores(void **state)
{
    (void)state;
    struct dg_translate_options o = {.search = {.beam = 4, .n_best = 3, .alpha = -1, .max_len = 8}};
    struct dg_answers a;
    struct dg_job *j = translated("The boat.", &o, &a);
    assert_int_equal(a.n_best, 3);
    for (size_t i = 1; i < a.n_best; i++)
        assert_true(a.best[i - 1].score >= a.best[i].score);
    assert_float_equal(a.best[0].score, a.sentences[0].score, 0);
    dg_job_free(j);
}

static void length_limit_is_flagged(void **state)
{
    (void)state;
    struct dg_translate_options o = {
        .search = {.beam = 1, .alpha = -1, .max_len = 5, .min_len = 9}};
    struct dg_answers a;
    struct dg_job *j = translated("The old house.", &o, &a);
    assert_true(a.flags & DG_FLAG_LENGTH_LIMITED);
    assert_true(a.sentences[0].flags & DG_FLAG_LENGTH_LIMITED);
    assert_string_equal(dg_flag_name(DG_FLAG_LENGTH_LIMITED), "length_limited");
    dg_job_free(j);
}

/* Each term has 120 pieces, and an answer of this model at most 200: there is room for one of the
 * two, and the sentence is translated. */
static void a_term_without_room_is_flagged(void **state)
{
    (void)state;
    struct dg_glossary_entry house = {.source = "house", .source_len = 5};
    char target[240];
    struct dg_error err = {0};
    struct dg_translate_options o = {.search = {.beam = 1, .alpha = -1}, .max_beam = 1};
    struct dg_answers a;
    for (size_t i = 0; i < 240; i++)
        target[i] = i % 2 ? ' ' : 'a';
    target[239] = '\0';
    house.target = target;
    house.target_len = 239;
    assert_int_equal(dg_glossary_make(&house, 1, &o.glossary, &err), 0);
    for (int two = 0; two < 2; two++) {
        struct dg_job *j = translated(two ? "The house and the house." : "The house.", &o, &a);
        assert_int_equal(!!(a.flags & DG_FLAG_GLOSSARY_MISSED), two);
        dg_job_free(j);
    }
    dg_glossary_unref(o.glossary);
}

static void bad_input_is_named(void **state)
{
    (void)state;
    struct dg_job *j = NULL;
    struct dg_error err = {0};
    struct dg_translate_options o = {.search = {.alpha = -1}};
    assert_int_equal(dg_job_encode(translator, "a\xFFz", 3, &o, &j, &err), DG_EINVAL);
    assert_string_equal(err.field, "text");
    dg_error_clear(&err);
    o.source = "fr";
    assert_int_equal(dg_job_encode(translator, "x", 1, &o, &j, &err), DG_EINVAL);
    assert_string_equal(err.field, "source");
    dg_error_clear(&err);
    o.source = "EN";
    o.target = "zz";
    assert_int_equal(dg_job_encode(translator, "x", 1, &o, &j, &err), DG_EINVAL);
    assert_string_equal(err.field, "target");
    o.target = "De";
    assert_int_equal(dg_job_encode(translator, "x", 1, &o, &j, NULL), 0);
    dg_job_free(j);
}

/* An answer without hypotheses, as for a target whose piece has zero probability. */
static void impossible_target_is_named(void **state)
{
    (void)state;
    const struct dg_result none = {0};
    struct dg_translate_options o = {.search = {.alpha = -1}};
    struct dg_error err = {0};
    struct dg_job *j = NULL;
    assert_int_equal(
        dg_job_encode_score(translator, &(struct dg_text_pair){"x", "y", 1, 1}, &o, &j, &err), 0);
    assert_int_equal(dg_job_accept(j, 0, &none, &err), DG_EINVAL);
    assert_string_equal(err.field, "translation");
    assert_string_equal(
        err.message, "translation contains a token that this model cannot generate");
    dg_job_free(j);
    dg_error_clear(&err);
    assert_int_equal(dg_job_encode(translator, "x", 1, &o, &j, &err), 0);
    assert_int_equal(dg_job_accept(j, 0, &none, &err), DG_EINTERNAL);
    dg_job_free(j);
    dg_error_clear(&err);
    static const char *const prefixes[] = {"Das", "Das ist"}; /* the first is one unfinished word */
    for (size_t i = 0; i < 2; i++) {
        o.prefix = prefixes[i];
        assert_int_equal(dg_job_encode(translator, "x", 1, &o, &j, &err), 0);
        assert_int_equal(dg_job_accept(j, 0, &none, &err), DG_EINVAL);
        assert_string_equal(err.field, "target_prefix");
        dg_job_free(j);
        dg_error_clear(&err);
    }
}

/* Scoring the search's result gives the search's own probabilities. */
static void score_equals_search(void **state)
{
    (void)state;
    static const char source[] = "The old house near the sea.";
    struct dg_translate_options o = {
        .search = {.beam = 1, .alpha = 0, .max_len = 20}, .tokens = true};
    struct dg_translate_options text = {.search = {.beam = 1, .alpha = 0, .max_len = 20}};
    struct dg_error err = {0};
    struct dg_answers a;
    struct dg_scored s;
    struct dg_buffer pieces;
    struct dg_token *tokens;
    size_t n;
    dg_buffer_init(&pieces);
    assert_int_equal(dg_tokenizer_encode(dg_translator_source(translator), source, strlen(source),
                         &tokens, &n, &err),
        0);
    for (size_t i = 0; i < n; i++)
        dg_buffer_addf(&pieces, "%s%s", i ? " " : "",
            dg_tokenizer_piece(dg_translator_source(translator), tokens[i].id));
    free(tokens);
    struct dg_job *j = translated(pieces.data, &o, &a), *scored = NULL;
    const struct dg_text_pair pair = {pieces.data, a.best[0].text, pieces.len, a.best[0].len};
    if (dg_job_encode_score(translator, &pair, &o, &scored, &err) ||
        dg_runner_run(runner, &scored, 1, NULL, NULL, &err) ||
        dg_job_finish_score(scored, &s, &err))
        fail_msg("%s", err.message);
    assert_string_equal(s.tokens[s.n - 1], "</s>");
    if (!(a.flags & DG_FLAG_LENGTH_LIMITED))
        assert_float_equal(s.total, a.best[0].score, 1e-9);
    dg_job_free(scored);
    dg_job_free(j);
    /* Pieces and text of the same sentence count as the same work. */
    j = translated(source, &text, &a);
    assert_int_equal(a.source_tokens, n + 1);
    dg_job_free(j);
    dg_buffer_deinit(&pieces);
}

/* Writes the engine's ids for a source given in pieces, after those of a target (NULL: none) or
 * prefix. */
static void read_pieces(
    const char *source, const char *target, const char *prefix, struct dg_buffer *ids)
{
    struct dg_translate_options o = {.tokens = true, .prefix = prefix};
    struct dg_error err = {0};
    struct dg_sentence s;
    struct dg_job *j;
    const struct dg_text_pair pair = {source, target, strlen(source), target ? strlen(target) : 0};
    int rc = target ? dg_job_encode_score(translator, &pair, &o, &j, &err)
                    : dg_job_encode(translator, source, strlen(source), &o, &j, &err);
    if (rc)
        fail_msg("%s", err.message);
    dg_job_sentence(j, 0, &s);
    dg_buffer_init(ids);
    dg_buffer_add(ids, s.prefix, s.n_prefix * sizeof *s.prefix);
    dg_buffer_add(ids, s.source, s.n_source * sizeof *s.source);
    dg_job_free(j);
}

#define THE_WIND                                                                                   \
    "\xe2\x96\x81"                                                                                 \
    "The \xe2\x96\x81"                                                                             \
    "wind ."
#define THE_WIND_WINDOWS                                                                           \
    "\t\xe2\x96\x81"                                                                               \
    "The\t\xe2\x96\x81"                                                                            \
    "wind  .\r\n"

/* A carriage return at a line's end is not part of a piece: it would make the last one unknown. */
static void any_white_space_parts_pieces(void **state)
{
    (void)state;
    static const char *const with[][2] = {{NULL, NULL}, {THE_WIND, NULL}, {NULL, THE_WIND}};
    static const char *const with_windows[][2] = {
        {NULL, NULL}, {THE_WIND_WINDOWS, NULL}, {NULL, THE_WIND_WINDOWS}};
    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++) {
        struct dg_buffer plain, windows;
        read_pieces(THE_WIND, with[i][0], with[i][1], &plain);
        read_pieces(THE_WIND_WINDOWS, with_windows[i][0], with_windows[i][1], &windows);
        assert_int_equal(plain.len, windows.len);
        assert_memory_equal(plain.data, windows.data, plain.len);
        dg_buffer_deinit(&plain);
        dg_buffer_deinit(&windows);
    }
}

/* Opens the translator with this tag for German, and restores the manifest. */
static int open_tagged(const char *tag, struct dg_error *err)
{
    struct dg_json *m = dg_json_copy(dg_bundle_manifest(dg_translator_bundle(translator))),
                   *before = dg_json_copy(m), *tags = dg_json_new_object();
    struct dg_translator *t = NULL;
    dg_json_set_string(tags, "de", tag);
    dg_json_set_take(m, "tags", tags);
    assert_int_equal(dg_bundle_seal(dir, m, NULL), 0);
    int rc = dg_translator_open(dir, be, 200, &t, err);
    dg_translator_close(t);
    assert_int_equal(dg_bundle_seal(dir, before, NULL), 0);
    dg_json_free(m);
    dg_json_free(before);
    return rc;
}

/* An unknown piece as the tag would select no language. */
static void a_tag_has_to_be_a_piece(void **state)
{
    (void)state;
    struct dg_error err = {0};
    assert_int_equal(open_tagged("<2de>", &err), 0);
    assert_int_equal(open_tagged("<2DE>", &err), DG_EFORMAT);
    assert_string_equal(err.field, "tags");
    assert_non_null(strstr(err.message, "\"<2DE>\" for \"de\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout_is_kept),
        cmocka_unit_test(letterless_comes_back),
        cmocka_unit_test(long_sentences_are_split),
        cmocka_unit_test(the_tokenizer_is_given_little_at_once),
        cmocka_unit_test(impossible_target_is_named),
        cmocka_unit_test(n_best_and_scores),
        cmocka_unit_test(length_limit_is_flagged),
        cmocka_unit_test(a_term_without_room_is_flagged),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(score_equals_search),
        cmocka_unit_test(any_white_space_parts_pieces),
        cmocka_unit_test(a_tag_has_to_be_a_piece),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
