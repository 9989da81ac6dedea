#include "cli/answers.h"
#include "cli/json_line.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

/* Get text k. The answer for a line keeps the carriage return of a line end in Windows' form, which
 * is no part of the text. */
static const char *text_of(
    const struct dragoman_result *a, size_t k, const struct dg_answers_form *form, size_t *n)
{
    const char *text = dragoman_result_text(a, k, n);
    if (form->lines && *n && text[*n - 1] == '\r')
        --*n;
    return text;
}

static struct dg_json *flags_json(uint32_t flags)
{
    struct dg_json *list = dg_json_new_array();
    for (uint32_t bit = 1; bit; bit <<= 1)
        if (flags & bit)
            dg_json_append_take(
                list, dg_json_new_string(dragoman_flag_name(bit), strlen(dragoman_flag_name(bit))));
    return list;
}

static struct dg_json *answer_json(
    const struct dragoman_result *a, size_t k, const struct dg_answers_form *form)
{
    struct dg_json *o = dg_json_new_object();
    size_t n;
    const char *text = text_of(a, k, form, &n);
    dg_json_set_take(o, form->tokens ? "tokens" : "text", dg_json_new_string(text, n));
    dg_json_set_real(o, "score", dragoman_result_score(a, k));
    return o;
}

/* Words as [[from, to], [from, to]] in code points; tokens as [source, target] positions. */
static struct dg_json *alignment_json(const struct dragoman_result *a, bool tokens)
{
    struct dg_json *list = dg_json_new_array();
    struct dragoman_alignment p;
    for (size_t i = 0; dragoman_result_alignment(a, i, &p) == DRAGOMAN_OK; i++) {
        struct dg_json *pair = dg_json_new_array();
        const size_t ends[2][2] = {{p.source_begin, p.source_end}, {p.target_begin, p.target_end}};
        for (int side = 0; side < 2; side++) {
            struct dg_json *span =
                tokens ? dg_json_new_int((int64_t)ends[side][0]) : dg_json_new_array();
            if (!tokens) {
                dg_json_append_take(span, dg_json_new_int((int64_t)ends[side][0]));
                dg_json_append_take(span, dg_json_new_int((int64_t)ends[side][1]));
            }
            dg_json_append_take(pair, span);
        }
        dg_json_append_take(list, pair);
    }
    return list;
}

static struct dg_json *steps_json(const struct dragoman_result *a)
{
    struct dg_json *pair = dg_json_new_array();
    struct dragoman_usage usage;
    dragoman_result_usage(a, &usage, sizeof usage);
    dg_json_append_take(pair, dg_json_new_int((int64_t)usage.steps));
    dg_json_append_take(pair, dg_json_new_int((int64_t)usage.most_steps));
    return pair;
}

int dg_answers_json(
    const struct dragoman_result *a, const struct dg_answers_form *form, struct dg_error *err)
{
    const size_t n_best = dragoman_result_count(a);
    struct dg_json *o = answer_json(a, 0, form);
    if (n_best > 1) {
        struct dg_json *list = dg_json_new_array();
        for (size_t i = 0; i < n_best; i++)
            dg_json_append_take(list, answer_json(a, i, form));
        dg_json_set_take(o, "n_best", list);
    }
    if (form->alignments)
        dg_json_set_take(o, "alignment", alignment_json(a, form->tokens));
    dg_json_set_take(o, "flags", flags_json(dragoman_result_flags(a)));
    if (form->steps)
        dg_json_set_take(o, "steps", steps_json(a));
    return dg_json_line_write(o, true, err);
}

void dg_answers_list(
    const struct dragoman_result *a, const struct dg_answers_form *form, uint64_t line)
{
    for (size_t i = 0; i < dragoman_result_count(a); i++) {
        size_t n;
        const char *text = text_of(a, i, form, &n);
        printf("%llu ||| ", (unsigned long long)line);
        fwrite(text, 1, n, stdout);
        printf(" ||| %.6f\n", dragoman_result_score(a, i));
    }
}
