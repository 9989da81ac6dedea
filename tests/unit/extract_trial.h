/* Files "translated" word for word into capitals. After cmocka.h. */
#ifndef DG_TESTS_UNIT_EXTRACT_TRIAL_H
#define DG_TESTS_UNIT_EXTRACT_TRIAL_H

#include "documents/extract.h"
#include "tests/unit/markup_trial.h"

/* Returns the file with its texts in capitals, or unchanged, for a target language; NULL: err holds
 * the reason. */
static inline char *translated_into(const char *target, const char *name, const char *file,
    size_t n, bool capitals, const struct dg_extract_limits *limits, size_t *len,
    struct dg_error *err)
{
    struct dg_extract *x = NULL;
    struct dg_buffer out;
    if (dg_extract_open(name, file, n, target, limits, &x, err) != DG_OK)
        return NULL;
    size_t count = dg_extract_count(x);
    struct dg_extract_answer *answers = calloc(count + 1, sizeof *answers);
    for (size_t i = 0; i < count; i++) {
        struct dg_extract_text t;
        dg_extract_text(x, i, &t);
        assert_int_equal(strlen(t.s), t.n);
        answers[i].s = trial_run(t.s, t.format, t.markup, capitals, err);
        if (!answers[i].s)
            fail_msg("%s: %s: %s", name, t.s, err->message);
        answers[i].n = strlen(answers[i].s);
    }
    dg_buffer_init(&out);
    if (dg_extract_write(x, answers, &out, err) != DG_OK)
        fail_msg("%s: %s", name, err->message);
    for (size_t i = 0; i < count; i++)
        free((char *)answers[i].s);
    free(answers);
    dg_extract_close(x);
    return dg_buffer_take(&out, len);
}

static inline char *translated_bytes(const char *name, const char *file, size_t n, bool capitals,
    const struct dg_extract_limits *limits, size_t *len, struct dg_error *err)
{
    return translated_into("de", name, file, n, capitals, limits, len, err);
}

static inline char *translated(const char *name, const char *file, size_t n, bool capitals,
    const struct dg_extract_limits *limits, struct dg_error *err)
{
    size_t len;
    return translated_bytes(name, file, n, capitals, limits, &len, err);
}

/* A file and its translation. */
struct example {
    const char *name, *file, *want;
    bool filled; /* the file holds both languages, so it does not come back unchanged */
};

static inline void check_examples(const struct example *cases, size_t n)
{
    int wrong = 0;
    for (size_t i = 0; i < n; i++) {
        struct dg_error err = {0};
        const char *file = cases[i].file;
        char *got =
            translated(cases[i].name, file, strlen(file), true, &dg_extract_limits_default, &err);
        if (!got)
            fail_msg("%s %s: %s", cases[i].name, file, err.message);
        if (strcmp(got, cases[i].want) != 0) {
            print_message(
                "%s: %s\nbecame %s\nnot    %s\n\n", cases[i].name, file, got, cases[i].want);
            wrong++;
        }
        free(got);
        got =
            translated(cases[i].name, file, strlen(file), false, &dg_extract_limits_default, &err);
        if (!cases[i].filled)
            assert_string_equal(got, file);
        free(got);
    }
    assert_int_equal(wrong, 0);
}

#endif
