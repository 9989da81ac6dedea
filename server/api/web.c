#include "server/api/web.h"

#include "server/api/web_files.h"
#include "server/http/reply.h"

#include <string.h>

struct file {
    const char *name, *type;
    /* [*size] */
    const unsigned char *data;
    const size_t *size;
};

#define ROW(id, file, type) {file, type, dg_##id, &dg_##id##_size},
static const struct file files[] = {DG_WEB_FILES(ROW)};
#undef ROW

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

static void reply(struct dg_http_exchange *x, const struct file *f)
{
    struct dg_http_reply r = {.content_type = f->type};
    dg_reply_fixed(&r, f->data, *f->size);
    dg_web_policy(&r);
    dg_http_reply_header(&r, "Vary", "Accept");
    dg_http_reply_take(x, &r);
}

void dg_web_page(struct dg_app *app, struct dg_http_exchange *x)
{
    (void)app;
    reply(x, &files[0]);
}

void dg_web_status(struct dg_app *app, struct dg_http_exchange *x)
{
    (void)app;
    reply(x, &files[1]);
}

void dg_web_file(struct dg_app *app, struct dg_http_exchange *x)
{
    const char *name = dg_http_request(x)->path + strlen("/web/");
    (void)app;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].name, name) == 0) {
            reply(x, &files[i]);
            return;
        }
    dg_reply_with_error(x, 404, "not_found", "there is no such file of the page");
}
