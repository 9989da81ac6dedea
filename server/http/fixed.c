/* Bodies that are built in, such as pages. They are sent from where they are, and compressed once:
 * anybody may ask for them again and again, without a key. */
#include "server/http/exchange.h"

#include <stdlib.h>

/* Lock held. NULL: the table is full. */
static struct dg_http_fixed *find(struct dg_http *http, const char *body)
{
    for (size_t i = 0; i < http->n_fixed; i++)
        if (http->fixed[i].body == body)
            return &http->fixed[i];
    if (http->n_fixed == DG_HTTP_FIXED_MAX)
        return NULL;
    struct dg_http_fixed *f = &http->fixed[http->n_fixed++];
    f->body = body;
    return f;
}

const char *dg_http_fixed_coded(
    struct dg_http *http, const char *body, enum dg_compress_coding coding, size_t *n)
{
    const char *coded = NULL;
    pthread_mutex_lock(&http->fixed_lock);
    struct dg_http_fixed *f = find(http, body);
    if (f && !f->coded[coding])
        f->coded[coding] = dg_compress(coding, body, *n, &f->n[coding]);
    if (f && f->coded[coding]) {
        coded = f->coded[coding];
        *n = f->n[coding];
    }
    pthread_mutex_unlock(&http->fixed_lock);
    return coded;
}

void dg_http_fixed_close(struct dg_http *http)
{
    for (size_t i = 0; i < http->n_fixed; i++)
        for (size_t k = 0; k < 3; k++)
            free(http->fixed[i].coded[k]);
    pthread_mutex_destroy(&http->fixed_lock);
}
