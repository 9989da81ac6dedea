/* Initialises ICU's one-time data before it is used. If memory ends during that, ICU keeps the
 * failure for good (normalisation) or ends the process (the default locale, which affects no result
 * here: it is always "en"). Any thread. */
#ifndef DG_TEXT_ICU_H
#define DG_TEXT_ICU_H

#include "base/error.h"

/* 0, or DG_ENOMEM. Quick when it was done before. */
int dg_icu_open(struct dg_error *err);

#endif
