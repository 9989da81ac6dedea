/* Documents to translate and translated ones in one SQLite file, so that a restart loses none. Each
 * has its file, languages and state. Access to a document needs its id and its key; both are
 * random. Files are kept until they expire. One thread at a time for each open file. */
#ifndef DG_STORE_UPLOADS_H
#define DG_STORE_UPLOADS_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
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
    /* name of its file */
    char name[DG_UPLOAD_NAME];
    char source[DG_UPLOAD_LANGUAGE], target[DG_UPLOAD_LANGUAGE];
    /* the API key's id; "": no owner */
    char owner[DG_UPLOAD_OWNER];
    /* name or id of the glossary; "": none */
    char glossary[DG_UPLOAD_GLOSSARY];
    /* read its answers back (dg_translate_options) */
    bool rerank;
    enum dg_upload_state state;
    int64_t characters, created_s;
    /* reason for the failure */
    char message[DG_UPLOAD_MESSAGE];
};

struct dg_uploads;

/* Open the file, creating it if it is missing. DG_EFORMAT (not a file of documents), DG_EUNSUP (a
 * newer program's), DG_EIO. */
int dg_uploads_open(const char *path, struct dg_uploads **out, struct dg_error *err);
/* Check that it would open; nothing is written. */
int dg_uploads_check(const char *path, struct dg_error *err);
/* If d took the documents over, close it after this process's others of the same file. NULL is
 * fine. */
void dg_uploads_close(struct dg_uploads *d);
/* How often its file could not be read or written, other than by a lock. Any thread. */
uint64_t dg_uploads_failures(const struct dg_uploads *d);

/* Take the documents over, before the first one is taken with dg_uploads_next: until d is closed,
 * no other process can, and those that were running at their last owner's are queued again.
 * DG_EAGAIN: another process has them, or has locked the file. */
int dg_uploads_take_over(struct dg_uploads *d, struct dg_error *err);

/* Add and queue a document. The caller sets made's name, languages, owner, glossary, rerank,
 * characters and created_s; id, key and state are filled in. DG_EAGAIN: all files together would
 * exceed most_bytes. */
int dg_uploads_add(struct dg_uploads *d, const void *file, size_t n, int64_t most_bytes,
    struct dg_upload *made, struct dg_error *err);
/* DG_ENOTFOUND. */
int dg_uploads_get(
    struct dg_uploads *d, const char *id, struct dg_upload *out, struct dg_error *err);
/* Get the oldest queued document and mark it as running. DG_ENOTFOUND: none is queued. */
int dg_uploads_next(
    struct dg_uploads *d, struct dg_upload *out, struct dg_buffer *file, struct dg_error *err);
/* Finish a running document: store the translated file in place of the original, or, with a
 * message, mark it as failed (the message gives the reason). */
int dg_uploads_done(struct dg_uploads *d, const char *id, const void *file, size_t n,
    const char *message, struct dg_error *err);
/* Queue a running document again. */
int dg_uploads_put_back(struct dg_uploads *d, const char *id, struct dg_error *err);
/* Append the translated file. DG_ENOTFOUND, also if the document is not done. */
int dg_uploads_read(
    struct dg_uploads *d, const char *id, struct dg_buffer *file, struct dg_error *err);
/* Delete a document, whatever its state. DG_ENOTFOUND. */
int dg_uploads_remove(struct dg_uploads *d, const char *id, struct dg_error *err);
/* A step of the wall clock: by how much it was set (0: not at all), the time now, and the server's
 * start; both by the clock as it is set now. */
struct dg_uploads_clock {
    int64_t step_s, now_s, began_s;
};

/* Adjust creation times to a step of the wall clock, so that documents keep their age, and set
 * times in the future to now. A step backwards shifts only what was created since the server began:
 * earlier documents may have been created by the right time and must not become older. */
int dg_uploads_date(
    struct dg_uploads *d, const struct dg_uploads_clock *clock, struct dg_error *err);
/* Delete documents created before before_s. */
int dg_uploads_expire(struct dg_uploads *d, int64_t before_s, struct dg_error *err);

#endif
