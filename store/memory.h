/* Glossaries and translation memories in one SQLite file: collections of text pairs, each in one or
 * more language pairs, each owned by an API key (or shared by all if it has no owner). Sentences
 * are stored and looked up in one form: NFC, white space as single blanks. Language codes are
 * stored as BCP 47 writes them ("en", "pt-BR"). One thread at a time for each open file; any number
 * of programs share it. */
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
#define DG_MEMORY_COLLECTIONS 1000    /* of one kind and owner */
#define DG_MEMORY_DICTIONARIES 64     /* language pairs of a collection */
#define DG_MEMORY_LANGUAGES 1000      /* language pairs of all translation memories of a key */
#define DG_MEMORY_TERMS 100000        /* pairs of a glossary */
#define DG_MEMORY_SEGMENTS 1000000    /* pairs of a translation memory */
#define DG_MEMORY_SEGMENT_BYTES 16384 /* of either side of such a pair */

enum dg_memory_kind {
    DG_MEMORY_GLOSSARY = 1, /* terms to use within sentences */
    DG_MEMORY_SENTENCES,    /* sentences whose translations are returned unchanged */
};

struct dg_memory_info {
    char id[DG_MEMORY_ID];
    enum dg_memory_kind kind;
    char name[DG_MEMORY_NAME];
    /* id of an API key; "": shared by all */
    char owner[DG_MEMORY_OWNER];
    /* the file that it was read from, as its reader identifies files; "": none */
    char origin[DG_MEMORY_ORIGIN];
    int64_t created_s;
    /* incremented with every change */
    int64_t version;
    int64_t pairs;
};

/* Number of a collection's pairs in one language pair. */
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

/* `pair` is borrowed for the call. A result other than 0 ends the reading, which returns it. */
typedef int dg_memory_visit(void *ctx, const struct dg_memory_pair *pair, struct dg_error *err);

/* A change of a collection, applied completely or not at all. */
struct dg_memory_change {
    /* NULL: unchanged */
    const char *name;
    /* [n] pairs to add; each replaces a pair with the same source and languages. One whose target
     * is NULL only removes that pair. */
    const struct dg_memory_pair *pairs;
    size_t n;
    enum dg_memory_how {
        DG_MEMORY_MERGE,
        DG_MEMORY_REPLACE_LANGUAGES, /* drop existing entries in the languages of pairs */
        DG_MEMORY_REPLACE_ALL,
    } how;
};

struct dg_memory;

/* create: create the file if it is missing. An older program's file is upgraded. DG_ENOTFOUND,
 * DG_EFORMAT (not a file of memories), DG_EUNSUP (a newer program's), DG_EIO. */
int dg_memory_open(const char *path, bool create, struct dg_memory **out, struct dg_error *err);
/* Check that it would open, or could be created; nothing is written. */
int dg_memory_check(const char *path, struct dg_error *err);
void dg_memory_close(struct dg_memory *m); /* NULL is fine */
/* Begin and end a read transaction: all reads in between see the same state of the file. */
void dg_memory_begin_reading(struct dg_memory *m);
void dg_memory_end_reading(struct dg_memory *m);
/* How often its file could not be read or written, other than by a lock. Any thread. */
uint64_t dg_memory_failures(const struct dg_memory *m);

/* Create a collection with wanted's kind, name, owner, origin and created_s, and pairs[n].
 * DG_EINVAL: the name (field name) is empty or too long, or a language code is invalid; DG_ELIMIT:
 * one of the limits above; DG_EAGAIN: also if there is one of this kind, owner and origin, unless
 * origin is "". */
int dg_memory_make(struct dg_memory *m, const struct dg_memory_info *wanted,
    const struct dg_memory_pair *pairs, size_t n, struct dg_memory_info *made,
    struct dg_error *err);
/* Get a collection of this kind that owner may use: its own, or a shared one. DG_ENOTFOUND. */
int dg_memory_get(struct dg_memory *m, enum dg_memory_kind kind, const char *owner, const char *id,
    struct dg_memory_info *out, struct dg_error *err);
/* Likewise, but only one that owner may change: its own, and not read from a file. */
int dg_memory_get_own(struct dg_memory *m, enum dg_memory_kind kind, const char *owner,
    const char *id, struct dg_memory_info *out, struct dg_error *err);
/* Change a collection that dg_memory_get_own returned; *out is the changed one. DG_ENOTFOUND, and
 * errors as dg_memory_make. */
int dg_memory_alter(struct dg_memory *m, const struct dg_memory_info *own,
    const struct dg_memory_change *change, struct dg_memory_info *out, struct dg_error *err);
/* Delete a collection with all its pairs. DG_ENOTFOUND. */
int dg_memory_remove(struct dg_memory *m, const char *id, struct dg_error *err);
/* Delete a collection's pairs in these languages; the collection stays even if it becomes empty.
 * DG_ENOTFOUND: it has no such pairs. */
int dg_memory_remove_languages(struct dg_memory *m, const char *id, const char *source_lang,
    const char *target_lang, struct dg_error *err);
/* All collections of this kind that owner may use, oldest first: *out[*n], caller frees. */
int dg_memory_list(struct dg_memory *m, enum dg_memory_kind kind, const char *owner,
    struct dg_memory_info **out, size_t *n, struct dg_error *err);
/* A collection's language pairs, sorted: *out[*n], caller frees. */
int dg_memory_dictionaries(struct dg_memory *m, const char *id, struct dg_memory_dictionary **out,
    size_t *n, struct dg_error *err);

/* Visit all pairs of a collection, sorted by languages and source; only those in these languages if
 * they are not NULL. DG_ENOTFOUND. */
int dg_memory_read(struct dg_memory *m, const char *id, const char *const languages[2],
    dg_memory_visit *visit, void *ctx, struct dg_error *err);

/* Append to target the translation of exactly this source (wanted's target is not read) in a memory
 * of sentences that owner may use. If several have it, the owner's own one wins, then exact
 * language codes, then the newest. Languages match as far as both sides specify them
 * (text/language_code.h). DG_ENOTFOUND. */
int dg_memory_find(struct dg_memory *m, const char *owner, const struct dg_memory_pair *wanted,
    struct dg_buffer *target, struct dg_error *err);
/* *has = whether any memory of sentences has pairs. DG_EIO. */
int dg_memory_has_sentences(struct dg_memory *m, bool *has, struct dg_error *err);

/* Write a language code as BCP 47 does: "en", "pt-BR", "zh-Hant". DG_EINVAL: not a code. */
int dg_memory_language(const char *code, char out[DG_MEMORY_LANGUAGE], struct dg_error *err);
/* Append s[n] in the form in which sentences are stored. DG_ENOMEM. */
int dg_memory_form(const char *s, size_t n, struct dg_buffer *out, struct dg_error *err);

#endif
