/* Documents to translate and translated ones in one SQLite file, so that a restart loses none: each
 * with its file, languages and state. A document's id and key together give access to it; both are
 * random. Files are kept until they expire. One thread at a time for each open file. */
#ifndef DG_STORE_UPLOADS_H
#define DG_STORE_UPLOADS_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdint.h>

#define DG_UPLOAD_ID 37  /* a UUID, NUL */
#define DG_UPLOAD_KEY 65 /* hexadecimal digits, NUL */
#define DG_UPLOAD_NAME 256
#define DG_UPLOAD_LANGUAGE 36
#define DG_UPLOAD_MESSAGE 256
#define DG_UPLOAD_OWNER 16
#define DG_UPLOAD_GLOSSARY 65

enum dg_upload_state { DG_UPLOAD_QUEUED = 1, DG_UPLOAD_RUNNING, DG_UPLOAD_DONE, DG_UPLOAD_FAILED };

struct dg_upload {
    char id[DG_UPLOAD_ID], key[DG_UPLOAD_KEY];
    /* of its file */
    char name[DG_UPLOAD_NAME];
    char source[DG_UPLOAD_LANGUAGE], target[DG_UPLOAD_LANGUAGE];
    /* the API key's id; "": no owner */
    char owner[DG_UPLOAD_OWNER];
    /* its name or id; "": none */
    char glossary[DG_UPLOAD_GLOSSARY];
    enum dg_upload_state state;
    int64_t characters, created_s;
    /* why it failed */
    char message[DG_UPLOAD_MESSAGE];
};

struct dg_uploads;

/* The file is made when it is not there. Documents that ran when it was last closed are queued
 * again. DG_EFORMAT (not a file of documents), DG_EUNSUP (a newer program's), DG_EIO. */
int dg_uploads_open(const char *path, struct dg_uploads **out, struct dg_error *err);
void dg_uploads_close(struct dg_uploads *d); /* NULL is fine */

/* A new one, queued: name, languages, owner, glossary, characters and created_s are given, id and
 * key are made. DG_ELIMIT: all files together would be over most_bytes. */
int dg_uploads_add(struct dg_uploads *d, const void *file, size_t n, int64_t most_bytes,
    struct dg_upload *made, struct dg_error *err);
/* DG_ENOTFOUND. */
int dg_uploads_get(
    struct dg_uploads *d, const char *id, struct dg_upload *out, struct dg_error *err);
/* The oldest that is queued; it runs from now on. DG_ENOTFOUND: none is. */
int dg_uploads_next(
    struct dg_uploads *d, struct dg_upload *out, struct dg_buffer *file, struct dg_error *err);
/* It has run: to this file (and the one that was given is dropped), or message says why not. */
int dg_uploads_done(struct dg_uploads *d, const char *id, const void *file, size_t n,
    const char *message, struct dg_error *err);
/* Queue it again. */
int dg_uploads_put_back(struct dg_uploads *d, const char *id, struct dg_error *err);
/* Append the translated file. DG_ENOTFOUND, also if it is not done. */
int dg_uploads_read(
    struct dg_uploads *d, const char *id, struct dg_buffer *file, struct dg_error *err);
/* Drop it, whatever its state. DG_ENOTFOUND. */
int dg_uploads_remove(struct dg_uploads *d, const char *id, struct dg_error *err);
/* By how much the wall clock was set, and what it says now and said when the server began, as it is
 * set now. */
struct dg_uploads_clock {
    int64_t step_s, now_s, began_s;
};

/* What was made by the other time is not older by this one, and was not made in the future. What
 * was made before the server began may have been made by the right time: it does not become younger
 * either, as what was made since then does. */
int dg_uploads_date(
    struct dg_uploads *d, const struct dg_uploads_clock *clock, struct dg_error *err);
/* Drop those that were made before then. */
int dg_uploads_expire(struct dg_uploads *d, int64_t before_s, struct dg_error *err);

#endif
