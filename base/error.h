/* Errors as values: a code and one sentence. The first message wins.
 * Any thread, one struct per caller. Never logs: the code that handles an error logs it, once. */
#ifndef DG_BASE_ERROR_H
#define DG_BASE_ERROR_H

#include <stddef.h>

enum dg_code {
    DG_OK = 0,
    DG_EINVAL = -1,  /* the caller's input is wrong */
    DG_ENOMEM = -2,  /* out of memory */
    DG_EIO = -3,     /* the operating system refused a file or socket operation */
    DG_EFORMAT = -4, /* a file does not match its format */
    DG_EUNSUP = -5,  /* well-formed, but not supported */
    DG_EAGAIN = -6,  /* no room now; try later */
    DG_ELIMIT = -7,  /* over a limit; never fits */
    DG_ENOTFOUND = -8,
    DG_ECANCELED = -9,
    DG_EINTERNAL = -10,
    DG_EQUOTA = -11,   /* quota used up; try later */
    DG_ETIMEOUT = -12, /* deadline passed */
};

struct dg_error {
    /* DG_OK or a negative DG_E* */
    int code;
    /* name of the wrong request field, tensor or flag; "" if none */
    char field[64];
    /* a sentence with the values */
    char message[512];
};

/* Start clean. */
void dg_error_clear(struct dg_error *err);

/* Set code and message unless one is already set; err may be NULL. Returns `code`. */
int dg_error_set(struct dg_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As dg_error_set, naming the field too (field may be NULL). Returns `code`. */
int dg_error_field(struct dg_error *err, int code, const char *field, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#ifdef __clang_analyzer__
/* For the analyser, which sees one file at a time: the return value is the code, never 0. */
#define dg_error_set(err, code, ...) (dg_error_set(err, code, __VA_ARGS__), code)
#define dg_error_field(err, code, field, ...) (dg_error_field(err, code, field, __VA_ARGS__), code)
#endif

/* Put "prefix: " before the message, if one is set. Returns err's code. */
int dg_error_prefix(struct dg_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Drop the half of a UTF-8 character that snprintf may have left at the end of s. The functions
 * above do so themselves; this is for names that are cut before they are put into a message. */
void dg_error_trim_utf8(char *s);
/* Copy untrusted text to out[cap], which may be `text` itself, with '?' for control characters: an
 * escape sequence must not reach the terminal. */
void dg_error_plain(const char *text, char *out, size_t cap);

/* A short name such as "invalid" or "limit" for a code. Static storage. */
const char *dg_code_name(int code);

#endif
