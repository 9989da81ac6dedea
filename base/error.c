#include "base/error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* This file defines the functions themselves, for the analyser too. */
#undef dg_error_set
#undef dg_error_field

void dg_error_clear(struct dg_error *err)
{
    if (err) {
        err->code = DG_OK;
        err->field[0] = '\0';
        err->message[0] = '\0';
    }
}

/* snprintf may have cut a UTF-8 character in two, and half of one makes the whole message unfit for
 * a JSON answer. */
void dg_error_trim_utf8(char *s)
{
    size_t n = strlen(s), start = n;
    while (start > 0 && n - start < 3 && ((unsigned char)s[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)s[start - 1];
    size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (n - (start - 1) < need)
        s[start - 1] = '\0';
}

static int set_v(struct dg_error *err, int code, const char *field, const char *format, va_list ap)
{
    if (!err || err->code != DG_OK)
        return code;
    err->code = code;
    snprintf(err->field, sizeof err->field, "%s", field ? field : "");
    vsnprintf(err->message, sizeof err->message, format, ap);
    dg_error_trim_utf8(err->field);
    dg_error_trim_utf8(err->message);
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

void dg_error_plain(const char *text, char *out, size_t cap)
{
    size_t n = 0;
    for (; text[n] && n + 1 < cap; n++) {
        const unsigned char c = (unsigned char)text[n];
        /* U+0080 to U+009F are control characters, too: C2 80 to C2 9F */
        const bool c1 = c >= 0x80 && c < 0xA0 && n > 0 && out[n - 1] == '\xC2';
        if (c1)
            out[n - 1] = '?';
        out[n] = c1 || iscntrl(c) ? '?' : (char)c;
    }
    out[n] = '\0';
    dg_error_trim_utf8(out);
}

int dg_error_prefix(struct dg_error *err, const char *format, ...)
{
    if (!err || err->code == DG_OK)
        return DG_OK;
    char head[sizeof err->message / 2]; /* the message keeps at least the other half */
    va_list ap;
    va_start(ap, format);
    vsnprintf(head, sizeof head - 2, format, ap);
    va_end(ap);
    dg_error_trim_utf8(head);
    strcat(head, ": ");
    size_t n = strlen(head), rest = strlen(err->message);
    if (rest > sizeof err->message - 1 - n)
        rest = sizeof err->message - 1 - n;
    memmove(err->message + n, err->message, rest);
    memcpy(err->message, head, n);
    err->message[n + rest] = '\0';
    dg_error_trim_utf8(err->message);
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
    case DG_EQUOTA: return "quota";
    case DG_ETIMEOUT: return "timeout";
    default: return "internal";
    }
}
