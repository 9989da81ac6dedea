#include "server/api/web.h"

#include "server/api/web_files.h"
#include "server/http/reply.h"

#include <string.h>

bool dg_web_wanted(const struct dg_http_exchange *x)
{
    const char *accept = dg_http_header(x, "Accept");
    return accept && strstr(accept, "text/html");
}

/* Allows only files of this server and nothing inline, so that translated text can run no
 * script. */
void dg_web_policy(struct dg_http_reply *r)
{
    dg_http_reply_header(r, "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    dg_http_reply_header(r, "X-Frame-Options", "DENY"); /* for browsers without frame-ancestors */
    dg_http_reply_header(r, "Referrer-Policy", "no-referrer");
    /* Another version of the program has different files under the same names. */
    dg_http_reply_header(r, "Cache-Control", "no-cache");
}

static void reply(struct dg_http_exchange *x, const char *name)
{
    const struct dg_web_file *f = dg_web_files;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    if (!f->name) {
        dg_reply_with_error(x, 404, "not_found", "there is no such file of the page");
        return;
    }
    struct dg_http_reply r = {.content_type = f->type};
    dg_reply_fixed(&r, f->data, *f->size);
    dg_web_policy(&r);
    dg_http_reply_header(&r, "Vary", "Accept");
    dg_http_reply_take(x, &r);
}

void dg_web_page(struct dg_app *app, struct dg_http_exchange *x)
{
    (void)app;
    reply(x, "index.html");
}

void dg_web_status(struct dg_app *app, struct dg_http_exchange *x)
{
    (void)app;
    reply(x, "status.html");
}

void dg_web_file(struct dg_app *app, struct dg_http_exchange *x)
{
    (void)app;
    reply(x, dg_http_request(x)->path + strlen("/web/"));
}
