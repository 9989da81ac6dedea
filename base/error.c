#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dg_error_clear(struct dg_error *err)
{
    if (err) {
        err->code = DG_OK;
        err->field[0] = '\0';
        err->message[0] = '\0';
    }
}

static int set_v(struct dg_error *err, int code, const char *field, const char *format, va_list ap)
{
    if (!err || err->code != DG_OK)
        return code;
    err->code = code;
    snprintf(err->field, sizeof err->field, "%s", field ? field : "");
    vsnprintf(err->message, sizeof err->message, format, ap);
    return code;
}

int dg_error_set(struct dg_error *err, int code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    set_v(err, code, NULL, format, ap);
    va_end(ap);
    return code;
}

int dg_error_field(struct dg_error *err, int code, const char *field, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    set_v(err, code, field, format, ap);
    va_end(ap);
    return code;
}

int dg_error_prefix(struct dg_error *err, const char *format, ...)
{
    if (!err || err->code == DG_OK)
        return DG_OK;
    char head[sizeof err->message];
    char tail[sizeof err->message];
    va_list ap;
    va_start(ap, format);
    vsnprintf(head, sizeof head, format, ap);
    va_end(ap);
    memcpy(tail, err->message, sizeof tail);
    size_t n = strlen(head);
    if (n > sizeof head / 2)
        head[sizeof head / 2] = '\0';
    snprintf(err->message, sizeof err->message, "%.255s: %.254s", head, tail);
    return err->code;
}

const char *dg_code_name(int code)
{
    switch (code) {
    case DG_OK: return "ok";
    case DG_EINVAL: return "invalid";
    case DG_ENOMEM: return "out_of_memory";
    case DG_EIO: return "io";
    case DG_EFORMAT: return "format";
    case DG_EUNSUP: return "unsupported";
    case DG_EAGAIN: return "try_again";
    case DG_ELIMIT: return "limit";
    case DG_ENOTFOUND: return "not_found";
    case DG_ECANCELED: return "canceled";
    default: return "internal";
    }
}
