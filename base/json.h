/* JSON values over jansson (the one file that knows it is json.c).
 * A value is owned by the code that made or parsed it until given away; getters borrow.
 * One thread at a time per tree. Parsing is strict: UTF-8, no duplicate keys, depth <= 64, no
 * trailing bytes. Strings may hold U+0000, keys may not. */
#ifndef DG_BASE_JSON_H
#define DG_BASE_JSON_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_json;

enum dg_json_type {
    DG_JSON_NULL,
    DG_JSON_BOOL,
    DG_JSON_INT,
    DG_JSON_REAL,
    DG_JSON_STRING,
    DG_JSON_ARRAY,
    DG_JSON_OBJECT
};

/* Parse s[n]. NULL, with line and column in the message, if it is not JSON (any value is allowed at
 * the top). */
struct dg_json *dg_json_parse(const char *s, size_t n, struct dg_error *err);
/* A function called at intervals during parsing; any result but DG_OK stops it with that error. */
struct dg_json_check {
    int (*check)(const void *arg, struct dg_error *err);
    const void *arg;
};
/* The same with a check, which may be NULL. It is called at least once a millisecond. */
struct dg_json *dg_json_parse_checked(
    const char *s, size_t n, const struct dg_json_check *check, struct dg_error *err);
/* Parse a whole file, which may begin with a byte order mark. */
struct dg_json *dg_json_load(const char *path, struct dg_error *err);
void dg_json_free(struct dg_json *v); /* NULL is fine */

enum dg_json_type dg_json_typeof(const struct dg_json *v); /* v NULL: DG_JSON_NULL */
const char *dg_json_type_name(
    enum dg_json_type type); /* "a string", "an array", ... for messages */

/* Reading. Borrowed until the root is freed. */
struct dg_json *dg_json_get(const struct dg_json *object, const char *key); /* NULL when absent */
size_t dg_json_length(const struct dg_json *v);                             /* array or object */
struct dg_json *dg_json_at(const struct dg_json *array, size_t i);
/* NULL unless a string; if len is NULL, also NULL for a string with U+0000, which would cut it
 * short. */
const char *dg_json_string(const struct dg_json *v, size_t *len);
bool dg_json_bool(const struct dg_json *v);
int64_t dg_json_int(const struct dg_json *v);   /* 0 unless an integer */
double dg_json_number(const struct dg_json *v); /* integers too */
/* Heap bytes that v takes, rounded up rather than down. */
size_t dg_json_memory(const struct dg_json *v);
/* Upper bound for the heap bytes of the values that parsing s[n] would make; one pass over it. */
size_t dg_json_memory_of_text(const char *s, size_t n);
/* Iterate an object's keys in order: key = NULL starts; returns NULL at the end. Borrowed. */
const char *dg_json_next_key(const struct dg_json *object, const char *key);

/* Typed fields of an object, for manifests, configurations and requests. Each returns 0 or
 * DG_EINVAL with err->field = key (after `where` and a dot, unless where is NULL or "") and a
 * sentence. A missing key leaves *out as it was; null is a wrong type. An integer may be
 * written 4.0; INT64_MIN, INT64_MAX and infinities as bounds mean none. A string with U+0000 is
 * refused. */
int dg_json_field_string(const struct dg_json *o, const char *where, const char *key,
    const char **out, struct dg_error *err);
int dg_json_field_int(const struct dg_json *o, const char *where, const char *key, int64_t min,
    int64_t max, int64_t *out, struct dg_error *err);
int dg_json_field_number(const struct dg_json *o, const char *where, const char *key, double min,
    double max, double *out, struct dg_error *err);
int dg_json_field_bool(
    const struct dg_json *o, const char *where, const char *key, bool *out, struct dg_error *err);
/* Write such a field's name, "where.key", or the one of them that is given, to `out`; return it. */
enum { DG_JSON_NAME = 128 };
const char *dg_json_name(char out[DG_JSON_NAME], const char *where, const char *key);
/* DG_EINVAL naming the first key of `o` that is not in the NULL-ended list. */
int dg_json_only(
    const struct dg_json *o, const char *where, const char *const *allowed, struct dg_error *err);

/* Building. NULL on out of memory or invalid UTF-8; adding to or adding NULL is a no-op that
 * returns -1. set/append take ownership of v, also on failure. Checks are optional: once a thread
 * has run out of memory while building, its next write fails. */
/* Reset that out-of-memory state, before this thread builds another value. */
void dg_json_begin(void);
/* Whether memory ran out since then, so that the value is incomplete. Also resets the state. */
bool dg_json_lost(void);
struct dg_json *dg_json_new_object(void);
struct dg_json *dg_json_new_array(void);
struct dg_json *dg_json_new_string(const char *s, size_t n);
struct dg_json *dg_json_new_int(int64_t v);
struct dg_json *dg_json_new_real(double v); /* not finite: null */
struct dg_json *dg_json_new_bool(bool v);
struct dg_json *dg_json_new_null(void);
struct dg_json *dg_json_copy(const struct dg_json *v); /* deep */
int dg_json_set_take(struct dg_json *object, const char *key, struct dg_json *v);
void dg_json_remove(
    struct dg_json *object, const char *key); /* no effect if there is no such key */
/* Removes the value from the object and gives it to the caller; NULL: there is no such key. */
struct dg_json *dg_json_detach(struct dg_json *object, const char *key);
int dg_json_append_take(struct dg_json *array, struct dg_json *v);
int dg_json_set_string(struct dg_json *object, const char *key, const char *s);
int dg_json_set_int(struct dg_json *object, const char *key, int64_t v);
int dg_json_set_real(struct dg_json *object, const char *key, double v);
int dg_json_set_bool(struct dg_json *object, const char *key, bool v);

/* Append the text to b: compact (indent 0) or indented. Keys in insertion order; reals with at most
 * 9 significant digits. -1: v is NULL, or memory ran out, now or while v was built; in the latter
 * case b->failed is set. */
int dg_json_write(const struct dg_json *v, int indent, struct dg_buffer *b);
/* The same with all 17 significant digits of a double. */
int dg_json_write_exact(const struct dg_json *v, int indent, struct dg_buffer *b);
/* Write v, indented, as dg_file_write does. */
int dg_json_save(const char *path, const struct dg_json *v, struct dg_error *err);
/* True if dg_json_write writes both alike. False if it cannot. */
bool dg_json_same(const struct dg_json *a, const struct dg_json *b);

#endif
