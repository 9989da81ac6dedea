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
    return U_SUCCESS(status)
               ? DG_OK
               : dg_error_set(err, status == U_MEMORY_ALLOCATION_ERROR ? DG_ENOMEM : DG_EINTERNAL,
                     "ICU cannot be used: %s", u_errorName(status));
}
