/* Reads parameters as HTML forms and links send them (application/x-www-form-urlencoded) into a
 * JSON object of strings, so that code that reads JSON bodies can read them, too. Pure; any
 * thread. */
#ifndef DG_SERVER_HTTP_FORM_H
#define DG_SERVER_HTTP_FORM_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

/* More parameters are refused: a form has a handful. */
#define DG_FORM_MAX_PARAMETERS 1000

/* Add the parameters of s[n], "a=b&c=%20d", to an object; a name that comes again has an array of
 * its values, in order. "+" is a space; a "%" without two hexadecimal digits means itself.
 * DG_EINVAL with the name as field when a value is not UTF-8 or holds U+0000; DG_ELIMIT, DG_ENOMEM.
 */
int dg_form_read(const char *s, size_t n, struct dg_json *object, struct dg_error *err);
/* Add one value, UTF-8 without U+0000, to an object; a name that comes again gets an array of its
 * values, in order. DG_ENOMEM. */
int dg_form_add(
    struct dg_json *object, const char *name, const char *value, size_t len, struct dg_error *err);
/* The byte of the escape "%xx" at s, which is NUL-terminated or has three bytes; -1: there is none.
 */
int dg_form_escape(const char *s);
/* Copy the first non-empty value of that name in s[n] to out[cap], truncated to fit; false: there
 * is none. One pass that decodes nothing else. cap must exceed the name's length + 1. */
bool dg_form_find(const char *s, size_t n, const char *name, char *out, size_t cap);

#endif
