/* translate/: planning and joining of texts, on a bundle made here (random weights, a real
 * SentencePiece model). What the model says is noise; that layout, offsets, limits and flags are
 * right is not. */
#include "tests/invariants/random_model.h"

#include "base/file.h"
#include "text/letter_case.h"
#include "tests/unit/byte_of.h"
#include "text/utf8.h"
#include "translate/runner.h"
#include "weights/bundle.h"

#include <sys/stat.h>

#define SPM "tests/data/tokenizer/joint.model"

static char dir[64];
static struct dg_backend *be;
static struct dg_translator *translator;
static struct dg_runner *runner;

static void copy_in(const char *from, const char *name)
{
    char to[128];
    struct dg_map map = {0};
    struct dg_error err = {0};
    snprintf(to, sizeof to, "%s/%s", dir, name);
    if (dg_file_map(from, &map, &err) || dg_file_write(to, map.data, map.size, &err))
        fail_msg("%s", err.message);
    dg_file_unmap(&map);
}

static void write_weights(const struct dg_config *c, const char *path)
{
    struct dg_weights_writer *w = NULL;
    struct dg_error err = {0};
    uint64_t seed = 99;
    assert_int_equal(dg_weights_writer_open(&w, &err), 0);
    for (size_t i = 0; i < dg_params_count(c); i++) {
        struct dg_param_info info;
        dg_params_info(c, i, &info);
        float *x = malloc((size_t)info.N * info.K * sizeof *x);
        assert_non_null(x);
        fill(c, &info, x, &seed);
        if (!strcmp(info.name, "out.b"))
            x[c->unk] = 3.0f; /* says <unk> now and then */
        assert_int_equal(dg_weights_writer_add(w, info.name, info.N, info.K, DG_F32, x, &err), 0);
        free(x);
    }
    if (dg_weights_writer_commit(w, path, &err))
        fail_msg("%s", err.message);
    dg_weights_writer_close(w);
}

static struct dg_json *manifest(const struct dg_config *c)
{
    struct dg_error err = {0};
    static const char text[] = "{\"format\":1,\"name\":\"test\",\"capitals\":\"as_words\","
                               "\"pairs\":[[\"en\",\"de\"]],\"files\":{\"weights\":\"weights.dgw\","
                               "\"source_spm\":\"joint.spm\",\"target_spm\":\"joint.spm\",\"source_"
                               "vocab\":\"joint.vocab\","
                               "\"target_vocab\":\"joint.vocab\"}}";
    struct dg_json *m = dg_json_parse(text, strlen(text), &err);
    assert_non_null(m);
    assert_int_equal(dg_config_write(c, m), 0);
    return m;
}

static int set_up(void **state)
{
    (void)state;
    struct dg_config c;
    struct dg_tokenizer *t = NULL;
    struct dg_error err = {0};
    char path[128], vocab[128];
    strcpy(dir, "/tmp/dragoman-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
    copy_in(SPM, "joint.spm");
    snprintf(vocab, sizeof vocab, "%s/joint.vocab", dir);
    if (dg_tokenizer_write_vocab(SPM, vocab, &err) || dg_tokenizer_open(SPM, vocab, &t, &err))
        fail_msg("%s", err.message);
    dg_config_base(&c, dg_tokenizer_size(t));
    c.eos = dg_tokenizer_id(t, "</s>");
    c.unk = dg_tokenizer_unk(t);
    c.start = -1;
    dg_tokenizer_close(t);
    c.D = 32;
    c.F = 64;
    c.H = 4;
    c.Dk = c.Dv = 8;
    c.enc_layers = c.dec_layers = 1;
    c.embed_scale = sqrtf(32.0f);
    c.output_bias = true;
    snprintf(path, sizeof path, "%s/weights.dgw", dir);
    write_weights(&c, path);
    struct dg_json *m = manifest(&c);
    if (dg_bundle_seal(dir, m, &err) || dg_cpu_open(NULL, &be, &err) ||
        dg_translator_open(dir, be, 200, &translator, &err) ||
        dg_runner_open(translator, 2, 1, NULL, &runner, &err))
        fail_msg("%s", err.message);
    dg_json_free(m);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"joint.spm", "joint.vocab", "weights.dgw", "manifest.json"};
    dg_runner_close(runner);
    dg_translator_close(translator);
    dg_cpu_close(be);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
    return 0;
}

static struct dg_job *translated(
    const char *text, const struct dg_translate_options *o, struct dg_answers *a)
{
    struct dg_job *j = NULL;
    struct dg_error err = {0};
    if (dg_job_encode(translator, text, strlen(text), o, &j, &err) ||
        dg_runner_run(runner, &j, 1, NULL, NULL, &err) || dg_job_finish(j, a, &err))
        fail_msg("%s", err.message);
    return j;
}

/* What stands between the sentences of the answer is what stood between those of the input, byte
 * for byte. */
static void check_layout(const char *text, const struct dg_answers *a)
{
    size_t s = 0, t = 0;
    const char *out = a->best[0].text;
    for (size_t i = 0; i <= a->n_sentences; i++) {
        size_t s_end =
            i < a->n_sentences ? byte_of(text, a->sentences[i].source_begin) : strlen(text);
        size_t t_end =
            i < a->n_sentences ? byte_of(out, a->sentences[i].target_begin) : a->best[0].len;
        assert_int_equal(s_end - s, t_end - t);
        assert_memory_equal(text + s, out + t, s_end - s);
        if (i < a->n_sentences) {
            s = byte_of(text, a->sentences[i].source_end);
            t = byte_of(out, a->sentences[i].target_end);
        }
    }
}

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

/* Over the piece limit a sentence is split, flagged, and all of it is translated. */
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
    /* As many pieces as the text has when it is not split, but for words cut in the middle. */
    struct dg_token *tokens;
    size_t n;
    assert_int_equal(dg_tokenizer_encode(
                         dg_translator_source(translator), text, strlen(text), &tokens, &n, NULL),
        0);
    free(tokens);
    assert_true(covered >= n);
    dg_job_free(j);

    /* Where nobody says a limit the model's positions are one: here 200. */
    assert_true(n > 200);
    o.max_source = 0;
    j = translated(text, &o, &a);
    assert_true(a.n_sentences > 1 && a.flags & DG_FLAG_SPLIT);
    check_layout(text, &a);
    dg_job_free(j);

    /* One word that is too long is cut between code points. */
    memset(text, 'q', 2000);
    text[2000] = '\0';
    j = translated(text, &o, &a);
    assert_true(a.flags & DG_FLAG_SPLIT);
    check_layout(text, &a);
    dg_job_free(j);
}

/* The tokenizer never sees more than some kilobytes at once, however little they say: what could be
 * split is, and the rest is refused by name. */
static void the_tokenizer_is_given_little_at_once(void **state)
{
    (void)state;
    const size_t n = 20000;
    char *text = calloc(1, n + 1);
    struct dg_translate_options o = {.search = {.beam = 1, .alpha = -1, .max_len = 4}};
    struct dg_answers a;
    struct dg_job *j = NULL;
    struct dg_error err = {0};
    memset(text, ' ', n); /* one piece to the tokenizer */
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

/* A piece the vocabulary does not know is never shown as the unknown sign: it is copied from where
 * the attention was. */
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

/* Flags tell of the best answer: what one below it copied is not the translation's. */
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

/* Pairs are whole words of both texts, in code points; words of every sentence are found. */
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

/* Capitals throughout are read as the vocabulary's words, and answered in capitals. */
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
    o.prefix = "Das"; /* as the user writes, so nothing is changed around it */
    j[0] = translated(texts[0], &o, &a[0]);
    j[1] = translated(texts[1], &o, &a[1]);
    assert_false(same_ids(j[0], j[1]));
    assert_memory_equal(a[0].best[0].text, "Das", 3);
    dg_job_free(j[0]);
    dg_job_free(j[1]);
}

/* Addresses, placeholders and emoji are in the answer exactly once, whatever the model says; alone
 * they are copied. */
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

/* At the ends of a sentence they are none of it. */
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

/* Nor are addresses that a colon or a dash sets apart from it. */
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

/* An answer without hypotheses, as of a target whose piece has no probability at all. */
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
}

/* Scoring what the search found gives the search's own probabilities. */
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
    /* And pieces or text of the same sentence are the same work. */
    j = translated(source, &text, &a);
    assert_int_equal(a.source_tokens, n + 1);
    dg_job_free(j);
    dg_buffer_deinit(&pieces);
}

/* The engine's ids for a source in pieces, behind those of a target (NULL: none) or of a prefix. */
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

/* A carriage return at a line's end belongs to no piece: it would make the last one unknown. */
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

/* Opened with the tag for German; the manifest is put back. */
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

/* An unknown piece would ask for no language at all. */
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
        cmocka_unit_test(unknown_is_copied),
        cmocka_unit_test(unknown_below_the_best_is_no_flag),
        cmocka_unit_test(alignments_are_words),
        cmocka_unit_test(capitals_are_read_as_words),
        cmocka_unit_test(what_has_no_language_is_kept),
        cmocka_unit_test(emoji_around_a_sentence_stay_outside),
        cmocka_unit_test(addresses_behind_a_colon_stay_outside),
        cmocka_unit_test(length_limit_is_flagged),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(score_equals_search),
        cmocka_unit_test(any_white_space_parts_pieces),
        cmocka_unit_test(a_tag_has_to_be_a_piece),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
