#include "server/http/tls.h"

#include "base/buffer.h"
#include "base/file.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct dg_tls_pair {
    atomic_uint refs;
    gnutls_certificate_credentials_t credentials;
    int64_t expires_s;
};

struct dg_tls {
    char *certificate_path, *key_path;
    /* Until dg_tls_forget. */
    struct dg_buffer certificate_text, key_text;
    pthread_mutex_t lock;
    /* guarded by lock */
    struct dg_tls_pair *pair;
};

/* Wipe a buffer, so that no copy of a private key stays in freed memory. */
static void wipe(struct dg_buffer *b)
{
    if (b->data)
        explicit_bzero(b->data, b->len);
    dg_buffer_deinit(b);
}

/* When the first certificate, the server's own, expires; 0: unknown. */
static int64_t expiry_of(gnutls_certificate_credentials_t credentials)
{
    gnutls_datum_t der;
    gnutls_x509_crt_t crt;
    int64_t at = 0;
    if (gnutls_certificate_get_crt_raw(credentials, 0, 0, &der) != 0 ||
        gnutls_x509_crt_init(&crt) != 0)
        return 0;
    if (gnutls_x509_crt_import(crt, &der, GNUTLS_X509_FMT_DER) == 0)
        at = (int64_t)gnutls_x509_crt_get_expiration_time(crt);
    gnutls_x509_crt_deinit(crt);
    return at;
}

/* Read both files. Each text ends in a NUL that is not counted. */
static int read_files(const struct dg_tls *t, struct dg_buffer *certificate, struct dg_buffer *key,
    struct dg_error *err)
{
    int rc = dg_file_read(t->certificate_path, certificate, err);
    if (rc == DG_OK)
        rc = dg_file_read(t->key_path, key, err);
    if (rc != DG_OK)
        return rc;
    if (certificate->failed || key->failed || !certificate->data || !key->data)
        return dg_error_set(
            err, DG_EINVAL, "%s is empty", certificate->data ? t->key_path : t->certificate_path);
    return DG_OK;
}

static int make_pair(const struct dg_tls *t, const struct dg_buffer *certificate,
    const struct dg_buffer *key, struct dg_tls_pair **out, struct dg_error *err)
{
    const gnutls_datum_t crt = {(unsigned char *)certificate->data, (unsigned)certificate->len},
                         secret = {(unsigned char *)key->data, (unsigned)key->len};
    struct dg_tls_pair *p = calloc(1, sizeof *p);
    if (!p || gnutls_certificate_allocate_credentials(&p->credentials) != 0) {
        free(p);
        return dg_error_set(err, DG_ENOMEM, "no memory for a certificate");
    }
    atomic_init(&p->refs, 1);
    int rc = gnutls_certificate_set_x509_key_mem2(
        p->credentials, &crt, &secret, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (rc < 0) {
        dg_tls_end(p);
        return dg_error_set(err, DG_EINVAL, "certificate %s with key %s: %s", t->certificate_path,
            t->key_path, gnutls_strerror(rc));
    }
    p->expires_s = expiry_of(p->credentials);
    *out = p;
    return DG_OK;
}

int dg_tls_open(const char *certificate, const char *key, struct dg_tls **out, struct dg_error *err)
{
    struct dg_tls *t = calloc(1, sizeof *t);
    if (!t)
        return dg_error_set(err, DG_ENOMEM, "no memory for TLS");
    pthread_mutex_init(&t->lock, NULL);
    dg_buffer_init(&t->certificate_text);
    dg_buffer_init(&t->key_text);
    t->certificate_path = strdup(certificate);
    t->key_path = strdup(key);
    int rc = t->certificate_path && t->key_path
                 ? read_files(t, &t->certificate_text, &t->key_text, err)
                 : dg_error_set(err, DG_ENOMEM, "no memory for TLS");
    if (rc == DG_OK)
        rc = make_pair(t, &t->certificate_text, &t->key_text, &t->pair, err);
    if (rc != DG_OK) {
        dg_tls_close(t);
        return rc;
    }
    *out = t;
    return DG_OK;
}

void dg_tls_close(struct dg_tls *t)
{
    if (!t)
        return;
    dg_tls_forget(t);
    dg_tls_end(t->pair);
    pthread_mutex_destroy(&t->lock);
    free(t->certificate_path);
    free(t->key_path);
    free(t);
}

int dg_tls_reload(struct dg_tls *t, struct dg_error *err)
{
    struct dg_buffer certificate, key;
    struct dg_tls_pair *fresh = NULL;
    dg_buffer_init(&certificate);
    dg_buffer_init(&key);
    int rc = read_files(t, &certificate, &key, err);
    if (rc == DG_OK)
        rc = make_pair(t, &certificate, &key, &fresh, err);
    wipe(&certificate);
    wipe(&key);
    if (rc != DG_OK)
        return rc;
    pthread_mutex_lock(&t->lock);
    struct dg_tls_pair *old = t->pair;
    t->pair = fresh;
    pthread_mutex_unlock(&t->lock);
    dg_tls_end(old);
    return DG_OK;
}

int64_t dg_tls_expires(struct dg_tls *t)
{
    pthread_mutex_lock(&t->lock);
    int64_t at = t->pair->expires_s;
    pthread_mutex_unlock(&t->lock);
    return at;
}

const char *dg_tls_certificate_text(const struct dg_tls *t)
{
    return t->certificate_text.data;
}

const char *dg_tls_key_text(const struct dg_tls *t)
{
    return t->key_text.data;
}

void dg_tls_forget(struct dg_tls *t)
{
    wipe(&t->certificate_text);
    wipe(&t->key_text);
}

struct dg_tls_pair *dg_tls_begin(struct dg_tls *t, void *session)
{
    pthread_mutex_lock(&t->lock);
    struct dg_tls_pair *p = t->pair;
    atomic_fetch_add(&p->refs, 1);
    pthread_mutex_unlock(&t->lock);
    if (gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, p->credentials) == 0)
        return p;
    dg_tls_end(p);
    return NULL;
}

void dg_tls_end(struct dg_tls_pair *p)
{
    if (!p || atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    gnutls_certificate_free_credentials(p->credentials);
    free(p);
}

void dg_tls_send(void *session, const char *data, size_t n)
{
    while (n > 0) {
        ssize_t k = gnutls_record_send(session, data, n);
        if (k <= 0)
            return; /* best effort: the close follows anyway */
        data += k;
        n -= (size_t)k;
    }
}
