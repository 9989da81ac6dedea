#include "text/tree/evalb.h"

#include <stdlib.h>
#include <string.h>

static bool is_punctuation(const char *tag)
{
    static const char *const tags[] = {",", ":", "``", "''", "."};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        if (!strcmp(tag, tags[i]))
            return true;
    return false;
}

static bool same_label(const char *a, const char *b)
{
    a = strcmp(a, "PRT") ? a : "ADVP";
    b = strcmp(b, "PRT") ? b : "ADVP";
    return strcmp(a, b) == 0;
}

/* Copy the brackets of t, with words renumbered by at[n_words + 1] and empty brackets left out;
 * returns their number. */
static uint32_t keep(const struct dg_tree *t, const uint32_t *at, struct dg_bracket *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_brackets; i++) {
        const struct dg_bracket *b = &t->brackets[i];
        if (at[b->begin] < at[b->end])
            out[n++] = (struct dg_bracket){b->label, at[b->begin], at[b->end]};
    }
    return n;
}

/* Number of brackets of `parsed` that match one of `gold`, each used once; matched ones are removed
 * from `gold`. */
static uint64_t match(
    struct dg_bracket *gold, uint32_t n_gold, const struct dg_bracket *parsed, uint32_t n_parsed)
{
    const uint32_t all = n_gold;
    for (uint32_t i = 0; i < n_parsed; i++)
        for (uint32_t k = 0; k < n_gold; k++)
            if (gold[k].begin == parsed[i].begin && gold[k].end == parsed[i].end &&
                same_label(gold[k].label, parsed[i].label)) {
                gold[k] = gold[--n_gold];
                break;
            }
    return all - n_gold;
}

static int check_words(
    const struct dg_tree *gold, const struct dg_tree *parsed, struct dg_error *err)
{
    if (gold->n_words != parsed->n_words)
        return dg_error_set(err, DG_EINVAL, "the gold tree has %u words, the parsed one %u",
            gold->n_words, parsed->n_words);
    for (uint32_t i = 0; i < gold->n_words; i++)
        if (strcmp(gold->words[i].text, parsed->words[i].text) != 0)
            return dg_error_set(err, DG_EINVAL,
                "word %u is \"%.60s\" in the gold tree, \"%.60s\" in the parsed one", i + 1,
                gold->words[i].text, parsed->words[i].text);
    return 0;
}

int dg_evalb_add(struct dg_evalb *e, const struct dg_tree *gold, const struct dg_tree *parsed,
    struct dg_error *err)
{
    int rc = check_words(gold, parsed, err);
    if (rc)
        return rc;
    uint32_t *at = calloc((size_t)gold->n_words + 1, sizeof *at);
    struct dg_bracket *a = calloc((size_t)gold->n_brackets + 1, sizeof *a);
    struct dg_bracket *b = calloc((size_t)parsed->n_brackets + 1, sizeof *b);
    if (at && a && b) {
        for (uint32_t w = 0; w < gold->n_words; w++)
            at[w + 1] = at[w] + !is_punctuation(gold->words[w].tag);
        const uint32_t n_gold = keep(gold, at, a), n_parsed = keep(parsed, at, b);
        const uint64_t matched = match(a, n_gold, b, n_parsed);
        e->matched += matched;
        e->gold += n_gold;
        e->parsed += n_parsed;
        e->sentences++;
        e->exact += matched == n_gold && matched == n_parsed;
    } else {
        rc = dg_error_set(err, DG_ENOMEM, "no memory to compare two trees");
    }
    free(at);
    free(a);
    free(b);
    return rc;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

double dg_evalb_recall(const struct dg_evalb *e)
{
    return percent(e->matched, e->gold);
}

double dg_evalb_precision(const struct dg_evalb *e)
{
    return percent(e->matched, e->parsed);
}

/* 2 P R / (P + R), computed from the counts. */
double dg_evalb_f1(const struct dg_evalb *e)
{
    return percent(2 * e->matched, e->gold + e->parsed);
}
