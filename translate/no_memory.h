/* The report that memory for a translation is out. Any thread. Private to translate/. */
#ifndef DG_TRANSLATE_NO_MEMORY_H
#define DG_TRANSLATE_NO_MEMORY_H

#include "base/error.h"

#define DG_JOB_NO_MEMORY(err) dg_error_set(err, DG_ENOMEM, "no memory for a translation")

#endif
