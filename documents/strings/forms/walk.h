/* The walk through a message, once for each of its forms. One thread at a time. Only for
 * documents/strings/forms/. */
#ifndef DG_DOCUMENTS_STRINGS_FORMS_WALK_H
#define DG_DOCUMENTS_STRINGS_FORMS_WALK_H

#include "documents/extract.h"
#include "documents/strings/forms/sentence.h"

enum { DG_WALK_FORMS = 32, DG_WALK_MOST = 128, DG_WALK_OPEN = 6 };

/* An argument in one of whose branches the walk is. */
struct dg_walk_open {
    size_t argument, selector;
    /* the number shown for the argument, or NULL */
    const char *sample;
    /* a sentence of the branch does not say the number */
    bool silent;
};

struct dg_walk {
    struct dg_pattern pattern;
    struct dg_sentence sentence;
    struct dg_walk_open open[DG_WALK_OPEN];
    /* n_forms: forms of the message; n_walked: the same, and those with a sample */
    size_t n_open, n_forms, n_walked, n_texts;
    /* an argument with branches was found */
    bool branches;
    /* branches that the walk is in for which there is another way, or which are added; a sentence
     * of the innermost one cannot be written; why one could not be */
    size_t n_added;
    bool fails;
    struct dg_error failure;
    /* reading: the sentences are written here */
    struct dg_buffer *texts;
    /* writing: the message, of these answers, in this language */
    struct dg_buffer *out;
    const struct dg_extract_answer *answers;
    const char *target;
    struct dg_error *err;
};

/* The rest of a walk: a message from a part and a byte on, up to a byte, then the rest after the
 * argument whose branch it is. */
struct dg_walk_rest {
    size_t part, at, end;
    /* the argument, or NONE; it is in a plural, at whatever depth */
    size_t argument;
    bool in_plural;
    const struct dg_walk_rest *after;
};

/* Walk through the rest. Reading appends sentences to w->texts, writing their answers and the bytes
 * of arguments to w->out. DG_EUNSUP: the message stays as it is; DG_ENOMEM. */
int dg_walk_on(struct dg_walk *w, struct dg_walk_rest r);
/* Walk through each branch of an argument, and through what is after it. */
int dg_walk_branches(struct dg_walk *w, size_t argument, const struct dg_walk_rest *after);

/* The rest of the walk at the beginning of a branch. */
struct dg_walk_rest dg_walk_enter(const struct dg_walk *w, size_t argument,
    const struct dg_pattern_branch *b, const struct dg_walk_rest *after);
/* Append bytes of the message to what is written. */
void dg_walk_copy(struct dg_walk *w, size_t begin, size_t end);

#endif
