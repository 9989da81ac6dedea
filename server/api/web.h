/* The web page at / and its files under /web/, built in from web/. HTTP threads. */
#ifndef DG_SERVER_API_WEB_H
#define DG_SERVER_API_WEB_H

#include "server/app.h"
#include "server/http/http.h"

/* Does the client ask for a page (Accept has text/html)? Programs get JSON at /. */
bool dg_web_wanted(const struct dg_http_exchange *x);
/* GET /: the page. */
void dg_web_page(struct dg_app *app, struct dg_http_exchange *x);
/* GET /status: queue, speed, latency and use of the last minutes, drawn from /v1/status. */
void dg_web_status(struct dg_app *app, struct dg_http_exchange *x);
/* GET /web/NAME: one of its files; 404 for any other name. */
void dg_web_file(struct dg_app *app, struct dg_http_exchange *x);
/* Add the headers of every page: its Content-Security-Policy and caching. */
void dg_web_policy(struct dg_http_reply *r);

#endif
