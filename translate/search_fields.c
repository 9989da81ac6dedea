#include "translate/search_fields.h"

#include <string.h>

#define AT(member) DG_FIELD_AT(struct dg_search, member)

static const struct dg_field search[] = {
    {"beam_size", DG_FIELD_INT, AT(beam), 1, DG_MAX_BEAM, .old = "beam",
        .help = "beam size (default: the model's)"},
    {"length_penalty", DG_FIELD_REAL, AT(alpha), 0, 10, .old = "alpha", .argument = "X",
        .help = "exponent of the length penalty; 0 favours short translations (default: the "
                "model's)"},
};

static const struct dg_field n_best[] = {
    {"n_best", DG_FIELD_INT, AT(n_best), 1, DG_MAX_BEAM,
        .help =
            "number of translations per sentence, best first, at most the beam size (default: one)"},
};

static const char *const kinds[] = {"gnmt", "power", "none", NULL};

static const struct dg_field length[] = {
    {"length_penalty_kind", DG_FIELD_WORD, AT(penalty), DG_PENALTY_GNMT, DG_PENALTY_NONE,
        .words = kinds, .old = "penalty", .argument = "KIND",
        .help = "divisor of scores for length n: gnmt ((5+n)/6)^X, power n^X, or none "
                "(default: gnmt)"},
    {"length_penalty_cap", DG_FIELD_REAL, AT(penalty_cap), 0, 10, .argument = "X",
        .help = "with --length-penalty: count at most X times the source's tokens (default: "
                "count all)"},
    {"max_length", DG_FIELD_INT, AT(max_len), 1, DG_MAX_LENGTH,
        .help = "maximum tokens of a translation, including </s> (default: the source's length "
                "plus the model's extra length)"},
};

#undef AT
#define AT(member) DG_FIELD_AT(struct dg_sampling, member)

static const struct dg_field sampling[] = {
    {"temperature", DG_FIELD_REAL, AT(temperature), 0.01, 100, .fallback = "1",
        .help = "divisor of the logits"},
    {"top_k", DG_FIELD_INT, AT(top_k), 0, DG_MAX_SAMPLE_TOP_K, .fallback = "0",
        .help = "sample from this many of the likeliest tokens; 0: from all"},
    {"seed", DG_FIELD_INT, AT(seed), 0, 0x1p63, .fallback = "0",
        .help = "seed; the same seed and sentence give the same translation"},
};

struct dg_fields dg_search_fields(struct dg_search *s, unsigned char *given)
{
    return (struct dg_fields){search, DG_FIELD_COUNT(search), s, given, NULL};
}

struct dg_fields dg_n_best_fields(struct dg_search *s)
{
    return (struct dg_fields){n_best, DG_FIELD_COUNT(n_best), s, NULL, NULL};
}

struct dg_fields dg_length_fields(struct dg_search *s, unsigned char *given)
{
    return (struct dg_fields){length, DG_FIELD_COUNT(length), s, given, NULL};
}

struct dg_fields dg_sampling_fields(struct dg_sampling *s)
{
    return (struct dg_fields){sampling, DG_FIELD_COUNT(sampling), s, NULL, NULL};
}

void dg_search_init(struct dg_search *s)
{
    memset(s, 0, sizeof *s);
    s->alpha = -1;
}
