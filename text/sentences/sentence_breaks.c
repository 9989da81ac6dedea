#include "text/sentences/sentence_breaks.h"

#include "text/icu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct kept {
    char locale[4];
    UBreakIterator *breaks;
};

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void close_kept(void *arg)
{
    struct kept *k = arg;
    ubrk_close(k->breaks);
    free(k);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, close_kept) == 0;
}

/* The thread's entry, empty at first; NULL: out of memory or of thread keys. */
static struct kept *kept_here(void)
{
    pthread_once(&once, make_key);
    struct kept *k = has_key ? pthread_getspecific(key) : NULL;
    if (k || !has_key)
        return k;
    k = calloc(1, sizeof *k);
    if (k && pthread_setspecific(key, k) != 0) {
        free(k);
        k = NULL;
    }
    return k;
}

int dg_sentence_breaks(const char *locale, UBreakIterator **out, struct dg_error *err)
{
    struct kept *k = kept_here();
    UErrorCode status = U_ZERO_ERROR;
    *out = NULL;
    if (!k)
        return dg_error_set(err, DG_ENOMEM, "no memory for ICU's sentence rules");
    int rc = dg_icu_open(err);
    if (rc != DG_OK)
        return rc;
    if (!k->breaks || strcmp(k->locale, locale) != 0) {
        ubrk_close(k->breaks);
        memset(k, 0, sizeof *k);
        k->breaks = ubrk_open(UBRK_SENTENCE, locale, NULL, 0, &status);
        if (U_FAILURE(status)) {
            k->breaks = NULL;
            return dg_icu_fail(err, DG_EINTERNAL, status, "ICU's sentence rules");
        }
        strncpy(k->locale, locale, sizeof k->locale - 1);
    }
    *out = k->breaks;
    return DG_OK;
}
