/* Glossaries of the server: files of pairs (store/pairs_file.h), read at start and again at each
 * reload, which requests name. terms.en-de.tsv and terms.de-en.csv are both of the glossary
 * "terms". Any thread. */
#ifndef DG_SERVER_GLOSSARIES_GLOSSARIES_H
#define DG_SERVER_GLOSSARIES_GLOSSARIES_H

#include "base/error.h"
#include "text/glossary.h"

#define DG_GLOSSARIES_MAX 1000
#define DG_GLOSSARIES_NAME 64        /* bytes of a glossary's name */
#define DG_GLOSSARIES_PAIRS 64       /* of languages, of one glossary */
#define DG_GLOSSARIES_ENTRIES 100000 /* of one glossary */

struct dg_glossaries;
/* One glossary as it was read: the entries of each pair of languages. Const, counted by references.
 */
struct dg_glossary_set;

/* Without any. DG_ENOMEM. */
int dg_glossaries_open(struct dg_glossaries **out, struct dg_error *err);
void dg_glossaries_close(struct dg_glossaries *g); /* NULL is fine */

/* Read a file, or all files of a directory that are named as files of pairs are, in place of what
 * there was. On failure what there was stays; the message names the file. DG_EINVAL, DG_EFORMAT,
 * DG_EIO, DG_ELIMIT, DG_ENOMEM. */
int dg_glossaries_load(struct dg_glossaries *g, const char *path, struct dg_error *err);

/* The glossary of that name, referenced; NULL: there is none. g NULL: none are kept. */
struct dg_glossary_set *dg_glossaries_find(struct dg_glossaries *g, const char *name);
void dg_glossary_set_unref(struct dg_glossary_set *s); /* NULL is fine */
const char *dg_glossary_set_name(const struct dg_glossary_set *s);
/* Its entries for a pair of languages, borrowed; NULL: it has none. */
struct dg_glossary *dg_glossary_set_pair(
    const struct dg_glossary_set *s, const char *source, const char *target);

#endif
