/* libFuzzer target for plan -> finish (translate/): a text with options is planned and finished
 * with random ids and alignments in place of the engine's answers. Eight bytes choose options and
 * answers, the rest is the text. Property: the text is planned or refused with a message; whatever
 * the answers, the job is finished, and all spans are within the texts and in order. */
#include "tests/fuzz/cpu.h"
#include "tests/fuzz/markups.h"
#include "text/utf8.h"
#include "translate/translate.h"

#include <math.h>
#include <string.h>

#define BUNDLE "tests/data/en-de"
enum { SEED = 8, MAX_IDS = 40 };

static struct dg_translator *t;
static struct dg_glossary *glossary;

/* A glossary of entries with capitals, numbers, names of stand-ins and foreign words. */
static void make_glossary(void)
{
    static const char *const terms[][2] = {{"WHO", "WHO"}, {"dogs", "BMW X3"}, {"2.4", "2.4-GHz"},
        {"Dvo\u0159\u00e1k Hall", "Saal"}, {"\u4e2d", "X1"}, {"a {b} c", "d"}, {"name", "Namen"}};
    struct dg_glossary_entry entries[sizeof terms / sizeof *terms];
    struct dg_error err = {0};
    const size_t n = sizeof terms / sizeof *terms;
    for (size_t i = 0; i < n; i++)
        entries[i] = (struct dg_glossary_entry){
            terms[i][0], terms[i][1], strlen(terms[i][0]), strlen(terms[i][1])};
    require(dg_glossary_make(entries, n, &glossary, &err) == DG_OK);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct dg_error err = {0};
    (void)argc;
    (void)argv;
    require(dg_translator_open(BUNDLE, fuzz_cpu(), 512, &t, &err) == DG_OK);
    make_glossary();
    return 0;
}

static uint32_t next_random(uint64_t *x)
{
    *x = *x * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*x >> 33);
}

/* Accepts a random answer in an engine's form: n_best hypotheses, the best one aligned if
 * requested. */
static int accept_any(struct dg_job *j, size_t i, uint64_t *random, struct dg_error *err)
{
    int32_t ids[4][MAX_IDS], alignment[MAX_IDS];
    float logprob[MAX_IDS];
    struct dg_hypothesis hyps[4];
    struct dg_sentence s;
    dg_job_sentence(j, i, &s);
    const uint32_t vocab = dg_tokenizer_size(dg_translator_target(t)),
                   n_best = s.search.n_best ? s.search.n_best : 1;
    const int32_t eos = dg_model_config(dg_translator_model(t))->eos,
                  unk = dg_tokenizer_unk(dg_translator_target(t));
    struct dg_result r = {.hyps = hyps, .n_hyps = n_best < 4 ? n_best : 4, .n_source = s.n_source};
    int has_unk = 0;
    for (uint32_t k = 0; k < MAX_IDS; k++) {
        alignment[k] = (int32_t)(next_random(random) % (s.n_source ? s.n_source : 1));
        logprob[k] = -(float)(next_random(random) % 100) / 10;
    }
    for (uint32_t h = 0; h < r.n_hyps; h++) {
        const uint32_t n = 1 + next_random(random) % MAX_IDS,
                       limited = next_random(random) % 4 == 0;
        for (uint32_t k = 0; k < n; k++) {
            ids[h][k] = (int32_t)(next_random(random) % vocab);
            ids[h][k] = ids[h][k] == eos ? unk : ids[h][k];
            if (k > 0 && next_random(random) % 4 == 0) /* now and then a loop */
                ids[h][k] = ids[h][k - 1];
        }
        for (uint32_t k = 0; k < s.n_prefix && k < n; k++)
            ids[h][k] = s.prefix[k];
        if (!limited)
            ids[h][n - 1] = eos;
        for (uint32_t k = 0; h == 0 && k < n; k++)
            has_unk = has_unk || ids[h][k] == unk;
        hyps[h] = (struct dg_hypothesis){.ids = ids[h],
            .token_logprob = logprob,
            .n = n,
            .logprob = -(double)n,
            .score = -1 - (double)h,
            .length_limited = limited,
            .sources = alignment};
    }
    /* engines omit it when no alignment was requested and the answer has no unknown piece */
    r.alignment = s.n_source && (has_unk || next_random(random) % 4) ? alignment : NULL;
    return dg_job_accept(j, i, &r, err);
}

static void check_answers(const struct dg_answers *a, const char *text, size_t n)
{
    size_t source = 0, target = 0;
    require(a->n_best >= 1);
    for (size_t i = 0; i < a->n_best; i++)
        require(dg_utf8_check(a->best[i].text, a->best[i].len, NULL) == DG_OK &&
                a->best[i].text[a->best[i].len] == '\0' && !isnan(a->best[i].score));
    const size_t characters = dg_utf8_count(a->best[0].text, a->best[0].len),
                 read = dg_utf8_count(text, n);
    for (size_t i = 0; i < a->n_sentences; i++) {
        const struct dg_answer_sentence *s = &a->sentences[i];
        require(s->source_begin >= source && s->source_end >= s->source_begin);
        require(s->target_begin >= target && s->target_end >= s->target_begin);
        require(s->source_end <= read && s->target_end <= characters);
        source = s->source_end;
        target = s->target_end;
    }
    for (size_t i = 0; i < a->n_alignments; i++) {
        const struct dg_answer_pair *p = &a->alignments[i];
        require(p->source_begin <= p->source_end && p->source_end <= read);
        require(p->target_begin <= p->target_end && p->target_end <= characters);
    }
}

/* A memory that knows every second sentence, by its length. */
static bool find_known(const void *arg, const char *s, size_t n, struct dg_buffer *out)
{
    static const char *const known[] = {"Der Hund.", "(2) \u201ea\u201c. B", "{name}\n", "\u00fc"};
    (void)arg, (void)s;
    if (n % 2 == 0)
        dg_buffer_adds(out, known[n / 2 % (sizeof known / sizeof *known)]);
    return n % 2 == 0;
}

static void run(struct dg_job *j, const char *text, size_t n, uint64_t random)
{
    struct dg_answers answers;
    struct dg_finished_part part;
    struct dg_error err = {0};
    for (size_t i = 0; i < dg_job_sentences(j); i++) {
        int rc = DG_EAGAIN;
        for (int round = 0; rc == DG_EAGAIN && round < 4; round++)
            rc = accept_any(j, i, &random, &err);
        require(rc == DG_OK);
    }
    if (next_random(&random) % 2)
        for (size_t i = 0; i < dg_job_parts(j); i++)
            require(dg_job_finish_part(j, i, &part, &err) == DG_OK);
    int rc = dg_job_finish(j, &answers, &err);
    if (rc != DG_OK)
        fprintf(stderr, "not finished: %s\n", err.message);
    require(rc == DG_OK);
    check_answers(&answers, text, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const prefixes[] = {NULL, NULL, NULL, "Der", "Der ", "((", "\u4e2d"};
    struct dg_job *j = NULL;
    struct dg_error err = {0};
    uint64_t random = 0;
    if (size < SEED)
        return 0;
    const char *text = (const char *)data + SEED;
    const size_t n = size - SEED;
    memcpy(&random, data + 4, 4);
    if (dg_utf8_check(text, n, NULL) != DG_OK || memchr(text, '\0', n))
        return 0;
    const struct dg_known known = {.find = find_known};
    const struct dg_translate_options o = {
        .search = {.alpha = -1, .beam = 4, .n_best = 1 + data[0] % 4},
        .tokens = data[1] % 8 == 7,
        .same_language = data[0] >> 4 == 15,
        .alignments = data[1] & 8,
        .keep_loops = data[1] & 16,
        .format = data[1] % 8 == 7 ? 0 : (enum dg_format)(data[1] % 8 % 6),
        .one_sentence = data[1] % 8 == 6,
        .prefix = prefixes[data[2] % 7],
        .glossary = data[2] / 7 % 2 ? glossary : NULL,
        .known = data[2] / 14 % 2 ? &known : NULL,
        .first_as_it_is = data[2] / 28 % 4 == 3,
        .markup = fuzz_markup(data[3] / 8),
        .max_source = data[3] % 8 == 0 ? 8 : 0};
    int rc = dg_job_encode(t, text, n, &o, &j, &err);
    require((rc == DG_OK) == (j != NULL));
    require(rc == DG_OK || (err.message[0] != '\0' && rc != DG_EINTERNAL));
    if (j)
        run(j, text, n, random);
    dg_job_free(j);
    return 0;
}
