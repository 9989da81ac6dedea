/* Initialises ICU's one-time data before it is used. Where memory ends in the middle of that, ICU
 * keeps the failure for good (normalisation), or ends the process (the default locale, which no
 * result here depends on: it is "en" whatever the environment says). Any thread. */
#ifndef DG_TEXT_ICU_H
#define DG_TEXT_ICU_H

#include "base/error.h"

/* 0, or DG_ENOMEM. Quick when it was done before. */
int dg_icu_open(struct dg_error *err);

#endif
