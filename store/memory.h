/* Glossaries and translation memories in one SQLite file: collections of text pairs, each of one
 * language pair, each owned by an API key (or shared by all if it has no owner). Sentences are
 * stored and looked up in one form: NFC, white space as single blanks. Codes of languages are kept
 * as BCP 47 writes them ("en", "pt-BR"). One thread at a time for each open file; any number of
 * programs share it. */
#ifndef DG_STORE_MEMORY_H
#define DG_STORE_MEMORY_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DG_MEMORY_ID 37 /* a UUID, NUL */
#define DG_MEMORY_NAME 256
#define DG_MEMORY_OWNER 16
#define DG_MEMORY_LANGUAGE 36
#define DG_MEMORY_ORIGIN 320
#define DG_MEMORY_COLLECTIONS 1000    /* of a kind, of an owner */
#define DG_MEMORY_DICTIONARIES 64     /* pairs of languages of a collection */
#define DG_MEMORY_TERMS 100000        /* pairs of a glossary */
#define DG_MEMORY_SEGMENTS 1000000    /* pairs of a translation memory */
#define DG_MEMORY_SEGMENT_BYTES 16384 /* of either side of these */

enum dg_memory_kind {
    DG_MEMORY_GLOSSARY = 1, /* terms, to be kept within sentences */
    DG_MEMORY_SENTENCES,    /* sentences, whose translations are given as they are */
};

struct dg_memory_info {
    char id[DG_MEMORY_ID];
    enum dg_memory_kind kind;
    char name[DG_MEMORY_NAME];
    /* id of a key; "": everybody's */
    char owner[DG_MEMORY_OWNER];
    /* the file that it was read from, as its reader tells files apart; "": none */
    char origin[DG_MEMORY_ORIGIN];
    int64_t created_s;
    /* counts its changes */
    int64_t version;
    int64_t pairs;
};

/* The pairs of a collection in two languages. */
struct dg_memory_dictionary {
    char source_lang[DG_MEMORY_LANGUAGE], target_lang[DG_MEMORY_LANGUAGE];
    int64_t pairs;
};

/* Texts are UTF-8 without U+0000. */
struct dg_memory_pair {
    const char *source_lang, *target_lang;
    const char *source, *target;
    size_t source_len, target_len;
};

/* Borrowed for the call; other than 0 ends the reading, which returns it. */
typedef int dg_memory_visit(void *ctx, const struct dg_memory_pair *pair, struct dg_error *err);

/* A change of a collection, applied completely or not at all. */
struct dg_memory_change {
    /* NULL: as it is */
    const char *name;
    /* [n] added; a pair replaces the one with the same source and languages */
    const struct dg_memory_pair *pairs;
    size_t n;
    enum dg_memory_how {
        DG_MEMORY_MERGE,
        DG_MEMORY_REPLACE_LANGUAGES, /* drop existing entries in the languages of pairs */
        DG_MEMORY_REPLACE_ALL,
    } how;
};

struct dg_memory;

/* create: make the file when it is not there. An older program's file is brought up to date.
 * DG_ENOTFOUND, DG_EFORMAT (not a file of memories), DG_EUNSUP (a newer program's), DG_EIO. */
int dg_memory_open(const char *path, bool create, struct dg_memory **out, struct dg_error *err);
void dg_memory_close(struct dg_memory *m); /* NULL is fine */

/* A new collection of wanted's kind, name, owner, origin and created_s, with pairs[n]. DG_EINVAL:
 * the name (field name) is empty or too long, or a code of a language is none; DG_ELIMIT: one of
 * the limits above. */
int dg_memory_make(struct dg_memory *m, const struct dg_memory_info *wanted,
    const struct dg_memory_pair *pairs, size_t n, struct dg_memory_info *made,
    struct dg_error *err);
/* A collection of this kind that owner may use: an own one, or everybody's. DG_ENOTFOUND. */
int dg_memory_get(struct dg_memory *m, enum dg_memory_kind kind, const char *owner, const char *id,
    struct dg_memory_info *out, struct dg_error *err);
/* The same of one that owner may change: an own one that was read from no file. */
int dg_memory_get_own(struct dg_memory *m, enum dg_memory_kind kind, const char *owner,
    const char *id, struct dg_memory_info *out, struct dg_error *err);
/* Change owner's own collection; *out is it then. DG_ENOTFOUND, and as dg_memory_make. */
int dg_memory_alter(struct dg_memory *m, const struct dg_memory_info *own,
    const struct dg_memory_change *change, struct dg_memory_info *out, struct dg_error *err);
/* With all its pairs. DG_ENOTFOUND. */
int dg_memory_remove(struct dg_memory *m, const char *id, struct dg_error *err);
/* Its pairs of these languages; with the last ones it stays, empty. DG_ENOTFOUND: it has none. */
int dg_memory_remove_languages(struct dg_memory *m, const char *id, const char *source_lang,
    const char *target_lang, struct dg_error *err);
/* All collections of this kind that owner may use, oldest first: *out[*n], to be freed. */
int dg_memory_list(struct dg_memory *m, enum dg_memory_kind kind, const char *owner,
    struct dg_memory_info **out, size_t *n, struct dg_error *err);
/* A collection's languages, in order: *out[*n], to be freed. */
int dg_memory_dictionaries(struct dg_memory *m, const char *id, struct dg_memory_dictionary **out,
    size_t *n, struct dg_error *err);

/* All pairs of a collection, by languages and source; only of these languages if they are not NULL.
 * DG_ENOTFOUND. */
int dg_memory_read(struct dg_memory *m, const char *id, const char *const languages[2],
    dg_memory_visit *visit, void *ctx, struct dg_error *err);

/* The translation of exactly this source (wanted's target is not read) in a memory of sentences
 * that owner may use, appended to target: of several an own one's, then the newest one's. Languages
 * match as far as both sides specify them. DG_ENOTFOUND. */
int dg_memory_find(struct dg_memory *m, const char *owner, const struct dg_memory_pair *wanted,
    struct dg_buffer *target, struct dg_error *err);
/* Whether there are any sentences. DG_EIO. */
int dg_memory_has_sentences(struct dg_memory *m, bool *has, struct dg_error *err);

/* A code as BCP 47 writes it: "en", "pt-BR", "zh-Hant". DG_EINVAL: it is none. */
int dg_memory_language(const char *code, char out[DG_MEMORY_LANGUAGE], struct dg_error *err);
/* s[n] in the form that sentences have here, appended. DG_ENOMEM. */
int dg_memory_form(const char *s, size_t n, struct dg_buffer *out, struct dg_error *err);

#endif
