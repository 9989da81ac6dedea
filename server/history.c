#include "server/history.h"

#include "base/buffer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct dg_history {
    const char *const *families;
    size_t most;
    pthread_mutex_t lock;
    /* guarded by lock; number n is in slot n % most */
    uint64_t added;
    struct slot {
        double at;
        char *text;
        /* [most] */
    } slots[];
};

int dg_history_open(
    const char *const *families, size_t most, struct dg_history **out, struct dg_error *err)
{
    struct dg_history *h = calloc(1, sizeof *h + most * sizeof h->slots[0]);
    if (!h)
        return dg_error_set(err, DG_ENOMEM, "no memory for the samples of the last minutes");
    h->families = families;
    h->most = most;
    pthread_mutex_init(&h->lock, NULL);
    *out = h;
    return DG_OK;
}

void dg_history_close(struct dg_history *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->most; i++)
        free(h->slots[i].text);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

static bool is_kept(const struct dg_history *h, const char *line)
{
    const size_t n = strcspn(line, "{ ");
    for (const char *const *f = h->families; *f; f++)
        if (strlen(*f) == n && memcmp(*f, line, n) == 0)
            return true;
    return false;
}

static bool is_bucket(const char *line)
{
    static const char suffix[] = "_bucket";
    const size_t n = strcspn(line, "{ "), k = sizeof suffix - 1;
    return n >= k && memcmp(line + n - k, suffix, k) == 0;
}

/* Copies the lines to keep. A histogram's buckets are adjacent and cumulative: if the last is 0,
 * all are, and they are left out. `block` is where they begin in b. */
static void select_lines(const struct dg_history *h, const char *text, struct dg_buffer *b)
{
    size_t block = 0;
    bool in_block = false;
    while (*text) {
        const size_t n = strcspn(text, "\n"), whole = n + (text[n] == '\n');
        const char *space = memrchr(text, ' ', n);
        if (text[0] != '#' && space && is_kept(h, text)) {
            const bool zero = strtod(space, NULL) == 0, bucket = is_bucket(text);
            const bool last = bucket && memmem(text, n, "le=\"+Inf\"", 9);
            if (bucket && !in_block)
                block = b->len;
            in_block = bucket && !last;
            if (bucket || !zero)
                dg_buffer_add(b, text, whole);
            if (last && zero && !b->failed) {
                b->len = block;
                b->data[b->len] = '\0';
            }
        }
        text += whole;
    }
}

void dg_history_add(struct dg_history *h, double at, const char *text)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    select_lines(h, text, &b);
    dg_buffer_adds(&b, "");
    char *kept = b.failed ? NULL : dg_buffer_take(&b, NULL);
    dg_buffer_deinit(&b);
    if (!kept)
        return;
    pthread_mutex_lock(&h->lock);
    struct slot *s = &h->slots[h->added++ % h->most];
    char *oldest = s->text;
    *s = (struct slot){.at = at, .text = kept};
    pthread_mutex_unlock(&h->lock);
    free(oldest);
}

char *dg_history_next(struct dg_history *h, uint64_t *cursor, double *at)
{
    char *text = NULL;
    pthread_mutex_lock(&h->lock);
    if (h->added > h->most && *cursor < h->added - h->most)
        *cursor = h->added - h->most;
    if (*cursor < h->added) {
        const struct slot *s = &h->slots[(*cursor)++ % h->most];
        *at = s->at;
        text = strdup(s->text);
    }
    pthread_mutex_unlock(&h->lock);
    return text;
}
