/* Options shared by the verbs that use a model: which model, how it searches, how many cores. These
 * verbs open the model through the library (include/dragoman.h); those that need more than its
 * header offers use the parts of struct dragoman_model. One thread, main's. */
#ifndef DG_CLI_DECODE_OPTIONS_H
#define DG_CLI_DECODE_OPTIONS_H

#include "base/command.h"
#include "library/internal.h"

struct dg_decode_options {
    /* NULL until dg_decode_options_check chooses an installed model. */
    const char *model;
    struct dg_translate_options translate;
    /* Engines that run in parallel; 0: one per core. */
    int workers;
    /* Cores that one step is split over. */
    int threads;
    bool json;
    /* As in kernels/device.h; NULL: from the environment. */
    const char *device, *precision;
    /* Origins of the search options (enum dg_field_origin). */
    unsigned char search_given[2], length_given[3];
    /* Path of the chosen model, which `model` then points to. */
    char installed[4096];
};

void dg_decode_options_init(struct dg_decode_options *o);

/* Groups of options for a verb's table. For every verb: */
struct dg_fields dg_decode_options_model(struct dg_decode_options *o);
/* For verbs that take text or tokens: */
struct dg_fields dg_decode_options_tokens(struct dg_decode_options *o);
/* For verbs that take many sentences: */
struct dg_fields dg_decode_options_workers(struct dg_decode_options *o);
/* For verbs that search, three groups: */
enum { DG_DECODE_SEARCH = 3 };
void dg_decode_options_search(
    struct dg_decode_options *o, struct dg_fields groups[DG_DECODE_SEARCH]);

/* Call once all options are read. DG_EINVAL: some of them exclude one another, or a device or
 * precision is not a known word; whether the device exists is checked later. Without --model, finds
 * an installed model; DG_ENOTFOUND: there is none; DG_EINVAL: several remain. */
int dg_decode_options_check(struct dg_decode_options *o, struct dg_error *err);
/* Name of a search option that was given, for a message that it has no effect; NULL: none was. */
const char *dg_decode_options_given(const struct dg_decode_options *o);

/* Convert the options to the library's struct, without the glossary. */
void dg_decode_options_public(const struct dg_decode_options *o, struct dragoman_options *out);
/* Convert an error of the library to ours. Returns its code. */
int dg_decode_options_error(const struct dragoman_error *error, struct dg_error *err);

/* Open the model, which the caller closes also after a failure, and set the languages that were
 * left out to those of its pair (borrowed from it): of the one that --model named, else of the
 * first that fits. DG_EINVAL: no pair fits. */
int dg_decode_options_open(
    struct dg_decode_options *o, struct dragoman_model **out, struct dg_error *err);

#endif
