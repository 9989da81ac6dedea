/* The callbacks of dg_http_options: from a request's headers to its route, its access check and its
 * handler, and from the reply to counters and the access log. OPTIONS and methods without a route
 * are answered here. app is a struct dg_app. HTTP threads. */
#ifndef DG_SERVER_API_DISPATCH_H
#define DG_SERVER_API_DISPATCH_H

#include "server/http/http.h"

void dg_dispatch_admit(void *app, struct dg_http_exchange *x);
void dg_dispatch_handle(void *app, struct dg_http_exchange *x);
void dg_dispatch_refuse(void *app, struct dg_http_exchange *x, int status, const char *code,
    const char *message, struct dg_http_reply *r);
void dg_dispatch_mark(void *app, struct dg_http_exchange *x, struct dg_http_reply *r);
void dg_dispatch_finished(void *app, struct dg_http_exchange *x, int status);

#endif
