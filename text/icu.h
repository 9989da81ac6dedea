/* Initialises ICU's one-time data before it is used. If memory runs out during that, ICU keeps the
 * failure for good (normalisation) or ends the process (the default locale, which affects no result
 * here: it is always "en"). Any thread. */
#ifndef DG_TEXT_ICU_H
#define DG_TEXT_ICU_H

#include "base/error.h"

/* Returns 0, DG_ENOMEM or DG_EINTERNAL. Cheap after the first success. */
int dg_icu_open(struct dg_error *err);
/* Set err to a failure of ICU whose UErrorCode is status: DG_ENOMEM if ICU ran out of memory, else
 * `code` with ICU's name of the error. what: such as "normalising text". Returns the code. */
int dg_icu_fail(struct dg_error *err, int code, int status, const char *what);

#endif
