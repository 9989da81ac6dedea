/* Counts items and their answers in the metrics. */
#include "server/metrics.h"
#include "server/request/request.h"

void dg_item_count(const struct dg_item *item, const struct dg_answers *answers)
{
    static const struct {
        unsigned flag;
        enum dg_counter counter;
    } flags[] = {{DG_FLAG_SPLIT, DG_COUNT_SPLIT}, {DG_FLAG_LENGTH_LIMITED, DG_COUNT_LENGTH_LIMITED},
        {DG_FLAG_UNK_COPIED, DG_COUNT_UNKNOWN}, {DG_FLAG_REPETITION, DG_COUNT_REPETITION},
        {DG_FLAG_LOW_CONFIDENCE, DG_COUNT_LOW_CONFIDENCE},
        {DG_FLAG_NUMBER_MISMATCH, DG_COUNT_NUMBER_MISMATCH},
        {DG_FLAG_SOURCE_LANGUAGE_DOUBTFUL, DG_COUNT_SOURCE_LANGUAGE_DOUBTFUL},
        {DG_FLAG_WORD_COPIED, DG_COUNT_WORD_COPIED}};
    struct dg_metrics *m = item->request->app->metrics;
    unsigned label = dg_metrics_pair(m, item->hops[0].pair[0], dg_item_last_hop(item)->pair[1]);
    dg_metrics_add(m, DG_COUNT_SENTENCES, label, answers->n_sentences);
    dg_metrics_add(m, DG_COUNT_CHARACTERS, label, answers->source_characters);
    dg_metrics_add(m, DG_COUNT_SOURCE_TOKENS, 0, answers->source_tokens);
    dg_metrics_add(m, DG_COUNT_TARGET_TOKENS, 0, answers->target_tokens);
    for (size_t i = 0; i < answers->n_sentences; i++)
        for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
            dg_metrics_add(
                m, flags[f].counter, 0, (answers->sentences[i].flags & flags[f].flag) != 0);
}

static enum dg_metrics_outcome outcome_of(const struct dg_error *err)
{
    switch (err->code) {
    case DG_OK: return DG_OUTCOME_OK;
    case DG_ETIMEOUT: return DG_OUTCOME_TIMEOUT;
    case DG_ECANCELED:
    case DG_EAGAIN:
    case DG_ENOMEM: return DG_OUTCOME_OVERLOADED;
    case DG_EINTERNAL:
    case DG_EIO: return DG_OUTCOME_ERROR;
    default: return DG_OUTCOME_INVALID;
    }
}

void dg_item_count_outcome(const struct dg_item *item, bool gone, const struct dg_error *err)
{
    dg_metrics_add(item->request->app->metrics, DG_COUNT_BATCH_ITEMS,
        gone ? DG_OUTCOME_CANCELLED : outcome_of(err), 1);
}
