/* Where a web page in a browser comes from, as far as its requests tell: a server without keys does
 * not serve every page that somebody on its machine opens. Other programs send none of these
 * headers, or what they like. HTTP thread. */
#ifndef DG_SERVER_ACCESS_SITE_H
#define DG_SERVER_ACCESS_SITE_H

#include "server/http/http.h"

#include <stddef.h>

/* Did a page of another site send it? Browsers say so (Sec-Fetch-Site, which no page can change) to
 * servers on their own machine and over HTTPS. Pages of browser extensions do not count. */
bool dg_site_is_other(const struct dg_http_exchange *x);

/* Does Host name this server by a name that a stranger can give to 127.0.0.1 (DNS rebinding)? Then
 * a page of that name's site counts as this server's own in a browser. Only for connections to a
 * loopback address, without TLS, and where Host has the port of the connection: a proxy on this
 * machine has another port, which the page of a rebound name cannot have. */
bool dg_site_is_rebound(const struct dg_http_exchange *x);

/* The name[*n] in the value of Host, without its port, which is in *port; `standard` if it has
 * none. Of an IPv6 address, with its brackets. */
const char *dg_site_name(const char *host, unsigned standard, size_t *n, unsigned *port);
/* Is that an address, or a name that no stranger can have: one without a dot, this_machine, or one
 * that ends in a reserved name such as .localhost? */
bool dg_site_is_own(const char *name, size_t n, const char *this_machine);

#endif
