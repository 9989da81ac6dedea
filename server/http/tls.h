/* TLS: holds the certificate and key for new connections; both may be replaced while old
 * connections keep theirs. Only what the HTTP library leaves to its user is here, and only tls.c
 * knows the TLS library: each connection's credentials are ours, so that a reload is a swap of one
 * pointer. TLS 1.2 and 1.3, ciphers with forward secrecy. Any thread. */
#ifndef DG_SERVER_HTTP_TLS_H
#define DG_SERVER_HTTP_TLS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the TLS library's syntax. */
#define DG_TLS_PRIORITIES                                                                          \
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-AES-128-CBC:-AES-256-CBC:-SHA1:"          \
    "%SERVER_PRECEDENCE"

struct dg_tls;
struct dg_tls_pair; /* a certificate with its chain, and its key; reference-counted */

/* Read both files (PEM; the certificate first, then its chain). DG_EINVAL: one cannot be read, is
 * not PEM, or the key is not the certificate's. */
int dg_tls_open(
    const char *certificate, const char *key, struct dg_tls **out, struct dg_error *err);
void dg_tls_close(struct dg_tls *t); /* NULL is fine; pairs live on while connections use them */
/* Read both files again, for new connections. On failure the old pair stays. */
int dg_tls_reload(struct dg_tls *t, struct dg_error *err);
/* Expiry of the certificate that new connections get, in seconds since the epoch; 0: unknown. */
int64_t dg_tls_expires(struct dg_tls *t);

/* The texts of both files, which the HTTP library needs when it starts; valid until
 * dg_tls_forget. */
const char *dg_tls_certificate_text(const struct dg_tls *t);
const char *dg_tls_key_text(const struct dg_tls *t);
void dg_tls_forget(struct dg_tls *t);

/* Give a session, before its handshake, the current pair; NULL: the session keeps what it has. */
struct dg_tls_pair *dg_tls_begin(struct dg_tls *t, void *session);
/* Release the pair of a session that is over. NULL is fine. */
void dg_tls_end(struct dg_tls_pair *p);
/* Send what fits into the socket at once. Only from the session's own thread. */
void dg_tls_send(void *session, const char *data, size_t n);

#endif
