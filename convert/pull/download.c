#include "convert/pull/download.h"

#include "convert/pull/part.h"
#include "convert/pull/progress.h"

#include <curl/curl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
    REDIRECTS = 5,
    CONNECT_SECONDS = 30,
    STALL_SECONDS = 30,
    STALL_BYTES = 1000,
    TRIES = 5,
    LONGEST_WAIT = 30
};

struct dg_downloader {
    CURL *curl;
    struct dg_download_options o;
    char why[CURL_ERROR_SIZE];
};

/* Fields of an answer's head; after redirects, of the last answer. */
struct head {
    long status;
    /* For a 206: offset of its first byte, and size of the whole; -1: not given. */
    int64_t range_begin, range_total;
    int64_t length;
    uint32_t retry_after;
    char etag[256];
    char next[2048];
};

/* One answer that is being received into a text or a file. */
struct transfer {
    struct dg_downloader *d;
    struct head head;
    /* The text, or NULL. */
    struct dg_buffer *text;
    size_t most;
    /* The file, or NULL. */
    const struct dg_download *f;
    struct dg_part *part;
    struct dg_progress *progress;
    bool begun;
    /* Why we aborted the transfer ourselves. */
    struct dg_error broken;
};

static const char *header_value(const char *line, size_t n, const char *name)
{
    const size_t k = strlen(name);
    if (n <= k || strncasecmp(line, name, k) != 0 || line[k] != ':')
        return NULL;
    const char *v = line + k + 1;
    while (*v == ' ' || *v == '\t')
        v++;
    return v;
}

/* Find <https://...>; rel="next" among other links. */
static void take_next(const char *v, char next[2048])
{
    for (const char *open = strchr(v, '<'); open; open = strchr(open + 1, '<')) {
        const char *close = strchr(open, '>'), *comma = close ? strchr(close, ',') : NULL;
        const char *rel = close ? strstr(close, "rel=\"next\"") : NULL;
        if (rel && (!comma || rel < comma) && close - open - 1 < 2048)
            snprintf(next, 2048, "%.*s", (int)(close - open - 1), open + 1);
    }
}

static size_t on_header(char *data, size_t size, size_t n, void *arg)
{
    struct transfer *t = arg;
    struct head *h = &t->head;
    char line[2300];
    const char *v;
    const size_t len = size * n;
    snprintf(line, sizeof line, "%.*s", (int)(len < sizeof line ? len : sizeof line - 1), data);
    line[strcspn(line, "\r\n")] = '\0';
    const size_t k = strlen(line);
    if (strncmp(line, "HTTP/", 5) == 0) {
        const char *space = strchr(line, ' ');
        *h = (struct head){.status = space ? strtol(space, NULL, 10) : 0,
            .range_begin = -1,
            .range_total = -1,
            .length = -1};
    } else if ((v = header_value(line, k, "content-range"))) {
        long long begin, end, total;
        const int got = sscanf(v, "bytes %lld-%lld/%lld", &begin, &end, &total);
        h->range_begin = got >= 2 ? begin : -1;
        h->range_total = got == 3 ? total : -1;
    } else if ((v = header_value(line, k, "content-length"))) {
        h->length = strtoll(v, NULL, 10);
    } else if ((v = header_value(line, k, "etag"))) {
        snprintf(h->etag, sizeof h->etag, "%.255s", v);
    } else if ((v = header_value(line, k, "retry-after"))) {
        h->retry_after = (uint32_t)strtoul(v, NULL, 10);
    } else if ((v = header_value(line, k, "link"))) {
        take_next(v, h->next);
    }
    return len;
}

static size_t on_text(char *data, size_t size, size_t n, void *arg)
{
    struct transfer *t = arg;
    if (t->text->len + size * n > t->most) {
        dg_error_set(&t->broken, DG_ELIMIT, "it has more than %zu bytes", t->most);
        return 0;
    }
    dg_buffer_add(t->text, data, size * n);
    return size * n;
}

/* At the first bytes of a file: is the answer the rest that was asked for, or the whole file again?
 */
static int begin_file(struct transfer *t)
{
    const struct head *h = &t->head;
    struct dg_error *err = &t->broken;
    int rc = 0;
    if (h->status == 206 && h->range_begin != (int64_t)t->part->have)
        return dg_error_set(err, DG_EFORMAT, "asked for bytes from %llu, got them from %lld",
            (unsigned long long)t->part->have, (long long)h->range_begin);
    if (h->status == 200 && t->part->have)
        rc = dg_part_restart(t->part, err);
    const int64_t total = h->status == 206 ? h->range_total : h->length;
    if (!rc && total >= 0 && t->f->size && (uint64_t)total != t->f->size)
        return dg_error_set(err, DG_EFORMAT, "it has %lld bytes there, %llu are expected",
            (long long)total, (unsigned long long)t->f->size);
    if (!rc && total >= 0)
        t->progress->total = (uint64_t)total;
    return rc ? rc : dg_part_note_etag(t->part, h->etag, err);
}

static size_t on_file(char *data, size_t size, size_t n, void *arg)
{
    struct transfer *t = arg;
    const size_t len = size * n;
    if (t->head.status != 200 && t->head.status != 206)
        return len; /* the body of an error answer */
    if (!t->begun && begin_file(t))
        return 0;
    t->begun = true;
    const uint64_t most = t->f->size ? t->f->size : t->f->most;
    if (len > most - t->part->have) {
        dg_error_set(&t->broken, t->f->size ? DG_EFORMAT : DG_ELIMIT,
            "more than the %llu bytes that it may have arrive", (unsigned long long)most);
        return 0;
    }
    if (dg_part_append(t->part, data, len, &t->broken))
        return 0;
    dg_progress_set(t->progress, t->part->have);
    return len;
}

static const char *ca_file(const struct dg_download_options *o)
{
    const char *const names[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE"};
    if (o->ca_file)
        return o->ca_file;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *v = getenv(names[i]);
        if (v && v[0])
            return v;
    }
    return NULL;
}

static void set_up(struct dg_downloader *d, const char *url, struct transfer *t)
{
    CURL *c = d->curl;
    curl_easy_reset(c);
    d->why[0] = '\0';
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, d->why);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "dragoman/" DG_VERSION);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, "https");
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(c, CURLOPT_MAXREDIRS, (long)REDIRECTS);
    curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME,
        d->o.stall_seconds ? (long)d->o.stall_seconds : (long)STALL_SECONDS);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    if (ca_file(&d->o))
        curl_easy_setopt(c, CURLOPT_CAINFO, ca_file(&d->o));
}

static void wait_seconds(double s)
{
    struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
    while (nanosleep(&t, &t) != 0)
        ;
}

/* Seconds to wait before try i + 1: as the server asks, up to LONGEST_WAIT, else twice as long each
 * time. */
static double seconds_before(const struct head *h, int i)
{
    const uint32_t asked = h->retry_after < LONGEST_WAIT ? h->retry_after : LONGEST_WAIT;
    return asked ? asked : 0.25 * (1 << i);
}

/* Might another try succeed? */
static bool is_passing(CURLcode code, long status)
{
    switch (code) {
    case CURLE_OK: return status == 429 || status >= 500;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return true;
    default: return false;
    }
}

/* Explain why an answer is bad; 0: it is good, as far as its head tells. */
static int explain(const struct transfer *t, CURLcode code, const char *url, struct dg_error *err)
{
    const long status = t->head.status;
    if (t->broken.code)
        return dg_error_set(err, t->broken.code, "%.250s: %.200s", url, t->broken.message);
    if (code == CURLE_UNSUPPORTED_PROTOCOL)
        return dg_error_set(
            err, DG_EUNSUP, "%.250s: this address, or a redirect of it, is not https", url);
    if (code == CURLE_TOO_MANY_REDIRECTS)
        return dg_error_set(err, DG_EUNSUP, "%.250s: more than %d redirects", url, (int)REDIRECTS);
    if (code != CURLE_OK)
        return dg_error_set(err, DG_EIO, "%.250s: %.200s", url,
            t->d->why[0] ? t->d->why : curl_easy_strerror(code));
    if (status == 200 || status == 206)
        return 0;
    return dg_error_set(err, status == 404 ? DG_ENOTFOUND : DG_EIO,
        "%.250s: the server returns %ld%s", url, status, status == 404 ? " (not found)" : "");
}

int dg_downloader_open(
    const struct dg_download_options *o, struct dg_downloader **out, struct dg_error *err)
{
    struct dg_downloader *d = calloc(1, sizeof *d);
    if (!d || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(d->curl = curl_easy_init())) {
        free(d);
        return dg_error_set(err, DG_ENOMEM, "libcurl cannot be started");
    }
    d->o = *o;
    *out = d;
    return 0;
}

void dg_downloader_close(struct dg_downloader *d)
{
    if (!d)
        return;
    curl_easy_cleanup(d->curl);
    curl_global_cleanup();
    free(d);
}

int dg_download_text(struct dg_downloader *d, const char *url, size_t most, struct dg_buffer *out,
    char next[2048], struct dg_error *err)
{
    int rc = 0;
    for (int i = 0; i < TRIES; i++) {
        struct transfer t = {.d = d, .text = out, .most = most};
        dg_buffer_reset(out);
        set_up(d, url, &t);
        curl_easy_setopt(d->curl, CURLOPT_ACCEPT_ENCODING, "");
        curl_easy_setopt(d->curl, CURLOPT_WRITEFUNCTION, on_text);
        const CURLcode code = curl_easy_perform(d->curl);
        if (i < TRIES - 1 && !t.broken.code && is_passing(code, t.head.status)) {
            wait_seconds(seconds_before(&t.head, i));
            continue;
        }
        rc = explain(&t, code, url, err);
        if (!rc && out->failed)
            rc = dg_error_set(err, DG_ENOMEM, "no memory for %.250s", url);
        if (next)
            snprintf(next, 2048, "%s", t.head.next);
        break;
    }
    return rc;
}

/* Make try i. *wait: seconds before the next one; below 0: no further try. */
static int try_file(struct transfer *t, int i, double *wait, struct dg_error *err)
{
    struct dg_downloader *d = t->d;
    const struct dg_download *f = t->f;
    struct dg_part *part = t->part;
    struct curl_slist *headers = NULL;
    char text[300];
    set_up(d, f->url, t);
    curl_easy_setopt(d->curl, CURLOPT_WRITEFUNCTION, on_file);
    if (part->have) {
        snprintf(text, sizeof text, "%llu-", (unsigned long long)part->have);
        curl_easy_setopt(d->curl, CURLOPT_RANGE, text);
        snprintf(text, sizeof text, "If-Range: %.255s", part->etag);
        if (part->etag[0])
            headers = curl_slist_append(NULL, text);
        curl_easy_setopt(d->curl, CURLOPT_HTTPHEADER, headers);
    }
    const CURLcode code = curl_easy_perform(d->curl);
    curl_slist_free_all(headers);
    *wait = -1;
    if (!t->broken.code && code == CURLE_OK && t->head.status == 416 && part->have) {
        *wait = 0; /* the partial file is longer than the remote one: start again */
        return dg_part_restart(part, err);
    }
    if (!t->broken.code && is_passing(code, t->head.status))
        *wait = seconds_before(&t->head, i);
    return explain(t, code, f->url, err);
}

static int fetch(struct dg_downloader *d, const struct dg_download *f, struct dg_part *part,
    struct dg_progress *progress, struct dg_error *err)
{
    double wait = 0;
    int rc = 0;
    for (int i = 0; i < TRIES && wait >= 0; i++) {
        const uint64_t before = part->have;
        struct transfer t = {.d = d, .f = f, .part = part, .progress = progress};
        dg_error_clear(err);
        rc = try_file(&t, i, &wait, err);
        if (!rc && wait < 0)
            return 0;
        if (part->have > before + (1 << 20))
            i = 0; /* a bad connection, but it advances */
        if (wait > 0 && i < TRIES - 1)
            wait_seconds(wait);
    }
    return rc ? rc
              : dg_error_set(err, DG_EIO,
                    "%.250s: the server returns 416 for the whole file and for its rest", f->url);
}

int dg_download_file(struct dg_downloader *d, const struct dg_download *f,
    struct dg_downloaded *out, struct dg_error *err)
{
    struct dg_part part;
    struct dg_progress progress;
    struct dg_error own = {0};
    if (dg_part_is_finished(f, out))
        return 0;
    int rc = dg_part_open(&part, f, &own);
    dg_progress_begin(&progress, f->name, f->size, part.have, d->o.quiet || rc);
    if (!rc && !(f->size && part.have == f->size))
        rc = fetch(d, f, &part, &progress, &own);
    /* An earlier run may have left a part of another version: start once more from the beginning.
     */
    if (!rc && part.found && !dg_part_is_right(&part)) {
        rc = dg_part_restart(&part, &own);
        if (!rc)
            rc = fetch(d, f, &part, &progress, &own);
    }
    dg_progress_end(&progress, !rc);
    if (!rc)
        rc = dg_part_finish(&part, out, &own);
    dg_part_close(&part);
    return rc ? dg_error_set(err, rc, "%s", own.message) : 0;
}
