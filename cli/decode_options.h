/* The options that verbs with a model share: which model, how it searches, on how many cores. */
#ifndef DG_CLI_DECODE_OPTIONS_H
#define DG_CLI_DECODE_OPTIONS_H

#include "translate/runner.h"

#include <getopt.h>

struct dg_decode_options {
    const char *model, *source, *target;
    struct dg_translate_options translate;
    int workers; /* engines side by side; 0 = one a core */
    int threads; /* cores one sentence's ops are split over */
    bool json;
    const char *device, *precision; /* kernels/device.h; NULL: the environment's */
};

/* A loaded bundle with its engines. */
struct dg_session {
    struct dg_backend *be;
    struct dg_translator *translator;
    struct dg_runner *runner;
};

/* Append to a verb's own table; values are above 1000. */
#define DG_DECODE_OPTIONS                                                                          \
    {"model", 1, NULL, 1001}, {"source-lang", 1, NULL, 1002}, {"target-lang", 1, NULL, 1003},      \
        {"pieces", 0, NULL, 1009}, {"json", 0, NULL, 1010}, {"threads", 1, NULL, 1012},            \
        {"device", 1, NULL, 1014},                                                                 \
    {                                                                                              \
        "precision", 1, NULL, 1015                                                                 \
    }

/* And of a verb that takes many sentences. */
#define DG_WORKERS_OPTION                                                                          \
    {                                                                                              \
        "workers", 1, NULL, 1011                                                                   \
    }

/* And of a verb that searches. */
#define DG_SEARCH_OPTIONS                                                                          \
    {"beam", 1, NULL, 1004}, {"alpha", 1, NULL, 1005}, {"penalty", 1, NULL, 1006},                 \
        {"max-length", 1, NULL, 1007},                                                             \
    {                                                                                              \
        "sampling", 1, NULL, 1013                                                                  \
    }

/* And of one that has a place for more than one answer. */
#define DG_N_BEST_OPTION                                                                           \
    {                                                                                              \
        "n-best", 1, NULL, 1008                                                                    \
    }

#define DG_DECODE_HELP                                                                             \
    "  --model BUNDLE       the bundle to use (required)\n"                                        \
    "  --source-lang CODE   language of the input (default: the bundle's first pair)\n"            \
    "  --target-lang CODE   language of the output\n"                                              \
    "  --device NAME        auto, cpu, cuda or cuda:N (default auto: a GPU where one can be "      \
    "used)\n"                                                                                      \
    "  --precision TYPE     of a GPU's arithmetic: fp32, fp16 or bf16 (default fp32)\n"            \
    "  --workers N          engines side by side (default: one a core; one on a GPU)\n"            \
    "  --threads N          cores one step is split over (default 1)\n"                            \
    "  --pieces             read and write vocabulary pieces instead of text\n"                    \
    "  --json               one JSON object a line\n"

#define DG_SEARCH_HELP                                                                             \
    "  --beam N             beam size 1..32 (default: the bundle's)\n"                             \
    "  --alpha X            length penalty's exponent (default: the bundle's)\n"                   \
    "  --penalty KIND       gnmt ((5+n)/6)^alpha, power n^alpha, or none (default gnmt)\n"         \
    "  --max-length N       most pieces out, </s> counted (default: pieces in + the bundle's "     \
    "extra)\n"                                                                                     \
    "  --sampling SPEC      draw pieces at random instead of searching: "                          \
    "temperature=X,top-k=N,seed=N (each may be left\n"                                             \
    "                       out: 1, all, 0); the same seed and sentence give the same answer\n"

#define DG_N_BEST_HELP "  --n-best N           that many best translations (default 1)\n"

void dg_decode_options_init(struct dg_decode_options *o);
/* Take option value `c` of getopt_long; 0 when it was one of these, 1 when not, DG_EINVAL with a
 * message. */
int dg_decode_options_take(
    struct dg_decode_options *o, int c, const char *arg, struct dg_error *err);

/* Once all were taken: DG_EINVAL when some of them exclude one another, or name a device or a
 * precision by a word that is none; which devices there are is seen later. */
int dg_decode_options_check(const struct dg_decode_options *o, struct dg_error *err);
/* An option of DG_SEARCH_OPTIONS that was taken, for a message that it has no effect; NULL: none
 * was. */
const char *dg_decode_options_search(const struct dg_decode_options *o);

int dg_session_open(struct dg_session *s, const struct dg_decode_options *o, struct dg_error *err);
void dg_session_close(struct dg_session *s); /* a zeroed one is fine */

#endif
