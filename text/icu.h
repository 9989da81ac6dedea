/* Initialises ICU's one-time data before it is used. If memory ends during that, ICU keeps the
 * failure for good (normalisation) or ends the process (the default locale, which affects no result
 * here: it is always "en"). Any thread. */
#ifndef DG_TEXT_ICU_H
#define DG_TEXT_ICU_H

#include "base/error.h"

/* 0, or DG_ENOMEM. Quick when it was done before. */
int dg_icu_open(struct dg_error *err);
/* Set err to a failure of ICU, status being its UErrorCode: DG_ENOMEM in words where it had no
 * memory, else code and ICU's name for it. what: "normalising text". Returns the code. */
int dg_icu_fail(struct dg_error *err, int code, int status, const char *what);

#endif
