#include "text/icu.h"

#include <pthread.h>
#include <stdbool.h>
#include <unicode/uloc.h>
#include <unicode/unorm2.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool ready; /* guarded by lock */

int dg_icu_open(struct dg_error *err)
{
    UErrorCode status = U_ZERO_ERROR;
    pthread_mutex_lock(&lock);
    if (!ready) {
        uloc_setDefault("en", &status);
        (void)unorm2_getNFCInstance(&status);
        (void)unorm2_getNFKCInstance(&status);
        ready = U_SUCCESS(status);
    }
    pthread_mutex_unlock(&lock);
    return U_SUCCESS(status) ? DG_OK : dg_icu_fail(err, DG_EINTERNAL, status, "ICU's data");
}

int dg_icu_fail(struct dg_error *err, int code, int status, const char *what)
{
    if (status == U_MEMORY_ALLOCATION_ERROR)
        return dg_error_set(err, DG_ENOMEM, "%s: no memory", what);
    return dg_error_set(err, code, "%s: %s", what, u_errorName((UErrorCode)status));
}
