/* Internals of the library; not installed. The public header describes the public objects; struct
 * dg_error becomes struct dragoman_error only at the boundary. Any thread: a model is const after
 * open, a result belongs to its caller. */
#ifndef DG_LIBRARY_INTERNAL_H
#define DG_LIBRARY_INTERNAL_H

#include "include/dragoman.h"
#include "translate/run/runner.h"

#include <sys/types.h>

/* Const after open, except the runner, which locks itself. */
struct dragoman_model {
    struct dg_backend *be;
    struct dg_translator *translator;
    struct dg_runner *runner;
    /* The process that opened the model and has the engines' threads. */
    pid_t process;
    char device[32], note[256];
    /* languages given to dragoman_open, for calls without languages; "": the bundle's first pair */
    char source[64], target[64];
};

struct dragoman_glossary {
    struct dg_glossary *terms;
};

/* A finished job: either a translation or a score. */
struct dragoman_result {
    struct dg_job *job;
    bool forced;
    struct dg_answers answers;
    struct dg_scored scored;
};

struct dragoman_results {
    size_t n;
    /* [n] */
    struct dragoman_result list[];
};

/* Convert rc and err to the public error; index -1: no text is at fault. Returns rc. */
int dg_library_error(
    int rc, const struct dg_error *err, int64_t index, struct dragoman_error *error);
/* Check that this process opened the model: a forked one has no threads for its engines. */
int dg_library_check_process(const struct dragoman_model *m, struct dg_error *err);
/* Begin a call: set error (NULL is fine) to no error. */
void dg_library_begin(struct dragoman_error *error);

/* Check the public options (NULL: the defaults), and convert them for translate/. */
int dg_library_options(const struct dragoman_model *m, const struct dragoman_options *options,
    struct dg_translate_options *out, struct dg_error *err);
/* Copy a caller's structure of *from bytes into to[size], which holds its defaults. DG_EINVAL: it
 * is not filled in; DG_EUNSUP: it has a value that only a newer version knows. */
int dg_library_take(const void *from, size_t from_size, void *to, size_t size, const char *what,
    struct dg_error *err);
/* Zero the caller's [size] bytes, copy as much of known[known_size] as fits, and set the first
 * member to `size`. */
void dg_library_give(void *to, size_t size, const void *known, size_t known_size);

/* Results for n texts, without jobs; NULL: no memory. */
struct dragoman_results *dg_library_results(size_t n);
/* Read the answer of r->job. */
int dg_library_finish(struct dragoman_result *r, struct dg_error *err);
const char *dg_library_bytes(const struct dragoman_text *t);

#endif
