/* The site of the page that sent a request, by the browser's headers: a server without keys must
 * not serve every page opened on its machine. Programs other than browsers may omit or forge these
 * headers. HTTP thread. */
#ifndef DG_SERVER_ACCESS_SITE_H
#define DG_SERVER_ACCESS_SITE_H

#include "server/http/http.h"

#include <stddef.h>

/* Did a page of another site send it? Browsers send Sec-Fetch-Site, which no page can change, to
 * their own machine and over HTTPS. Pages of browser extensions do not count. */
bool dg_site_is_other(const struct dg_http_exchange *x);

/* Is Host a name that a stranger can point to 127.0.0.1 (DNS rebinding)? The browser then treats
 * pages of that site as this server's own. True only for connections to a loopback address, without
 * TLS, and if Host has the port of the connection: clients of a proxy on this machine send the
 * proxy's port. */
bool dg_site_is_rebound(const struct dg_http_exchange *x);

/* The length of the name that a value of Host begins with, an IPv6 address with its brackets. *port
 * is the port after it, 80 if there is none. */
size_t dg_site_name_len(const char *host, unsigned *port);
/* Is that an address, or a name that no stranger can have: one without a dot, this_machine, or one
 * that ends in a reserved name such as .localhost? */
bool dg_site_is_own(const char *name, size_t n, const char *this_machine);

#endif
