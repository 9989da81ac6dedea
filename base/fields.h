/* Tables of typed fields: one row has a field's name, type, offset, allowed values, default and
 * help text. All sources are read through the same row: JSON (requests, manifests, recipes,
 * settings), the command line (base/options.h) and the environment. All texts about a field come
 * from it too: --help, manual pages, documented limits.
 *
 * A name is written in snake_case: "beam_size" in JSON, --beam-size on a command line,
 * DRAGOMAN_BEAM_SIZE in the environment. Tables are constant; any thread. */
#ifndef DG_BASE_FIELDS_H
#define DG_BASE_FIELDS_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dg_field_kind {
    /* bool; on a command line an option without a value. */
    DG_FIELD_BOOL,
    /* int that becomes `min`: an option without a value, such as --version for an action. */
    DG_FIELD_MARK,
    /* uint32_t, uint64_t or int64_t by size; int32_t where min is negative. With words, the value
     * min + i is also written as words[i]. */
    DG_FIELD_INT,
    /* float or double by size. */
    DG_FIELD_REAL,
    /* int64_t milliseconds, written in seconds; so are min and max. */
    DG_FIELD_SECONDS,
    /* enum, written as a word: the value of words[i] is min + i. */
    DG_FIELD_WORD,
    /* const char *, borrowed from argv, the environment or the JSON tree; if the row has words, one
       of them. */
    DG_FIELD_STRING,
    /* char[size], copied; if the row has words, one of them. */
    DG_FIELD_TEXT,
    /* struct dg_field_list: an option that may be given `max` times. Not in JSON. */
    DG_FIELD_LIST,
    /* A text that `take` parses; a string in JSON. Not written to JSON. */
    DG_FIELD_CUSTOM,
    /* Any JSON value, parsed by `read` or by the caller: a nested object, a list. JSON only. */
    DG_FIELD_OTHER,
};

enum { DG_FIELD_LIST_MAX = 64 };

struct dg_field_list {
    const char *items[DG_FIELD_LIST_MAX];
    size_t n;
};

enum dg_field_flag {
    /* Absence is an error in JSON and, for a string, on a command line (dg_options_required). */
    DG_FIELD_REQUIRED = 1,
    /* Not written to JSON while it has its default. */
    DG_FIELD_UNWRITTEN = 2,
    /* The first flag that the owner of a table may define itself. */
    DG_FIELD_OWN = 16,
};

struct dg_field {
    const char *name;
    enum dg_field_kind kind;
    /* Of the member in the struct; DG_FIELD_AT gives both. */
    size_t offset, size;
    /* Inclusive; INFINITY for none. */
    double min, max;
    /* NULL-ended. */
    const char *const *words;
    /* The default, as written on a command line; NULL: the field keeps the value it has. */
    const char *fallback;
    /* The value's name in --help, in capitals, such as FILE. */
    const char *argument;
    const char *help;
    /* A former name, still read but never written. */
    const char *old;
    unsigned flags;
    /* DG_FIELD_CUSTOM: parse `text` into the struct `out`; `name` is for messages. */
    int (*take)(const char *name, const char *text, void *out, struct dg_error *err);
    /* DG_FIELD_OTHER: store value v in the struct `out`; NULL: the caller reads it. */
    int (*read)(const char *name, const struct dg_json *v, void *out, struct dg_error *err);
};

#define DG_FIELD_AT(type, member) offsetof(type, member), sizeof(((type *)0)->member)
#define DG_FIELD_COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

enum dg_field_origin { DG_FROM_DEFAULT, DG_FROM_FILE, DG_FROM_ENVIRONMENT, DG_FROM_OPTION };

/* Rows and the struct that they describe. */
struct dg_fields {
    /* [n] */
    const struct dg_field *rows;
    size_t n;
    void *out;
    /* [n] where each value comes from (enum dg_field_origin), or NULL. */
    unsigned char *given;
    /* Heading of this group in --help, or NULL. */
    const char *title;
};

/* Set every row to its default. */
void dg_fields_default(const struct dg_fields *t);

/* Set one row from text. Messages call it `name`, such as "--port" or "DRAGOMAN_PORT". DG_EINVAL
 * names the field, its value and the allowed values. */
int dg_field_set(
    const struct dg_field *f, const char *name, const char *text, void *out, struct dg_error *err);

/* Read the members of object `o` (NULL: an empty one). A key without a row is refused. Absent
 * members keep their value. Messages and err->field say "where.key"; `where` may be NULL. */
int dg_fields_from_json(const struct dg_fields *t, const char *where, const struct dg_json *o,
    enum dg_field_origin origin, struct dg_error *err);
/* Replace former names by current ones in object `o` (NULL is allowed), unless it has both: for
 * trees that are merged before they are read. */
void dg_fields_rename(const struct dg_fields *t, struct dg_json *o);
/* Set every row's value in object `o`. DG_ENOMEM. */
int dg_fields_to_json(const struct dg_fields *t, struct dg_json *o);

/* Set each row whose DRAGOMAN_NAME has a value; an empty one counts as unset. `env` works like
 * getenv. */
int dg_fields_from_environment(
    const struct dg_fields *t, char *(*env)(const char *name), struct dg_error *err);
/* "--" and the name with hyphens; "DRAGOMAN_" and the name in capitals. */
const char *dg_field_option(const struct dg_field *f, char out[64]);
const char *dg_field_variable(const struct dg_field *f, char out[64]);
/* Is name[n] the variable of this field or of its former name? */
bool dg_field_has_variable(const struct dg_field *f, const char *name, size_t n);

/* Check that each number of the struct is within its row's range and each word is an allowed one.
 * For structs filled in by code. */
int dg_fields_check(const struct dg_fields *t, const char *where, struct dg_error *err);

/* The value of a whole number, word, mark or bool; and of a real number or of seconds (in seconds).
 * A float is returned as the shortest decimal that converts back to it. */
int64_t dg_field_whole(const struct dg_field *f, const void *in);
double dg_field_real(const struct dg_field *f, const void *in);
/* min or max as an integer: no double equals INT64_MAX, so 2^63 and more stand for it. */
int64_t dg_field_bound(double bound);
/* The value as it would be written on a command line. */
void dg_field_print(const struct dg_field *f, const void *in, struct dg_buffer *b);
/* Append to array `list` an object for each row: name (after `where` and a dot), type, minimum,
 * maximum, enum, default, help; for tests and tools. */
void dg_fields_describe(const struct dg_fields *t, const char *where, struct dg_json *list);

/* The row of that name (snake_case, former names too), or n when there is none. */
size_t dg_fields_find(const struct dg_fields *t, const char *name);

#endif
