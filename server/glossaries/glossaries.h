/* The server's glossaries: files of pairs (store/pairs_file.h), read at start and again at each
 * reload. Requests refer to them by name. terms.en-de.tsv and terms.de-en.csv both belong to the
 * glossary "terms". Any thread. */
#ifndef DG_SERVER_GLOSSARIES_GLOSSARIES_H
#define DG_SERVER_GLOSSARIES_GLOSSARIES_H

#include "base/error.h"
#include "server/glossaries/set.h"

#define DG_GLOSSARIES_MAX 1000

struct dg_glossaries;

/* Opens without any glossary. DG_ENOMEM. */
int dg_glossaries_open(struct dg_glossaries **out, struct dg_error *err);
void dg_glossaries_close(struct dg_glossaries *g); /* NULL is fine */

/* Read a file, or all files of pairs in a directory, in place of the current glossaries. On failure
 * these stay, and the message names the file. DG_EINVAL, DG_EFORMAT, DG_EIO, DG_ELIMIT,
 * DG_ENOMEM. */
int dg_glossaries_load(struct dg_glossaries *g, const char *path, struct dg_error *err);

/* The glossary of that name, referenced; NULL: there is none. g NULL: none are kept. */
struct dg_glossary_set *dg_glossaries_find(struct dg_glossaries *g, const char *name);
/* Glossary i in the order of names, referenced; NULL: there are fewer. */
struct dg_glossary_set *dg_glossaries_at(struct dg_glossaries *g, size_t i);

#endif
