/* The options that verbs with a model share: which model, how it searches, on how many cores. They
 * open it through the library (include/dragoman.h). One thread, main's. */
#ifndef DG_CLI_DECODE_OPTIONS_H
#define DG_CLI_DECODE_OPTIONS_H

#include "base/command.h"
#include "library/internal.h"

struct dg_decode_options {
    /* NULL until dg_decode_options_check: one that is installed. */
    const char *model;
    struct dg_translate_options translate;
    /* Engines side by side; 0: one a core. */
    int workers;
    /* Cores that one step is split over. */
    int threads;
    bool json;
    /* As in kernels/device.h; NULL: the environment's. */
    const char *device, *precision;
    /* Which of the search's options were given (enum dg_field_origin). */
    unsigned char search_given[2], length_given[3];
    /* What `model` is then. */
    char installed[4096];
};

/* A model of the library, and what is in it, for verbs that the public header is too small for. */
struct dg_session {
    struct dragoman_model *model;
    struct dg_backend *be;
    struct dg_translator *translator;
    struct dg_runner *runner;
};

void dg_decode_options_init(struct dg_decode_options *o);

/* Groups of options for a verb's table. Of every verb: */
struct dg_fields dg_decode_options_model(struct dg_decode_options *o);
/* Of one that takes many sentences: */
struct dg_fields dg_decode_options_workers(struct dg_decode_options *o);
/* Of one that searches, three groups: */
enum { DG_DECODE_SEARCH = 3 };
void dg_decode_options_search(
    struct dg_decode_options *o, struct dg_fields groups[DG_DECODE_SEARCH]);

/* Once all were read: DG_EINVAL when some of them exclude one another, or name a device or a
 * precision by a word that is none; which devices there are is seen later. Without --model finds
 * one that is installed; DG_ENOTFOUND, DG_EINVAL: not one. */
int dg_decode_options_check(struct dg_decode_options *o, struct dg_error *err);
/* An option of the search that was given, for a message that it has no effect; NULL: none was. */
const char *dg_decode_options_given(const struct dg_decode_options *o);

/* The options as the library has them; the glossary is left out. */
void dg_decode_options_public(const struct dg_decode_options *o, struct dragoman_options *out);
/* An error of the library as one of ours. Returns its code. */
int dg_decode_options_error(const struct dragoman_error *error, struct dg_error *err);

int dg_session_open(struct dg_session *s, const struct dg_decode_options *o, struct dg_error *err);
void dg_session_close(struct dg_session *s); /* a zeroed one is fine */

#endif
