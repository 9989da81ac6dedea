/* API keys and their usage, in one SQLite file. A key is 256 random bits that are shown once; the
 * file has only their SHA-256. (A slow salted hash protects secrets that can be guessed. 256 random
 * bits cannot be guessed, so one SHA-256 is as safe, and cheap enough for every request.) Usage is
 * counted per day, UTC. One thread at a time for each open file; any number of programs share
 * it. */
#ifndef DG_STORE_KEYS_H
#define DG_STORE_KEYS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DG_KEY_HASH 32
#define DG_KEY_SECRET 47 /* "dg_", 43 characters, NUL */

enum dg_scope { DG_SCOPE_TRANSLATE = 1, DG_SCOPE_ADMIN = 2 };

struct dg_key {
    /* names the key in lists and logs; reveals nothing about it */
    char id[12];
    char name[64];
    unsigned char hash[DG_KEY_HASH];
    /* enum dg_scope, or'ed */
    unsigned scopes;
    /* since the epoch; 0: not revoked */
    int64_t created_s, revoked_s;
    /* since the epoch; 0: never */
    int64_t expires_s;
    /* 0: no limit */
    int64_t requests_per_minute;
    /* 0: no limit */
    int64_t characters_per_day;
};

struct dg_key_usage {
    char id[12];
    /* since the epoch, UTC */
    int64_t day;
    int64_t requests, characters;
};

struct dg_keys;

/* create: create the file if it is missing. DG_ENOTFOUND, DG_EFORMAT (not a file of keys),
 * DG_EUNSUP (a newer program's), DG_EIO. */
int dg_keys_open(const char *path, bool create, struct dg_keys **out, struct dg_error *err);
/* Check that dg_keys_open would accept the file; nothing is written, an older file stays as it
 * is. *older: dg_keys_open would upgrade the file; may be NULL. */
int dg_keys_check(const char *path, bool *older, struct dg_error *err);
void dg_keys_close(struct dg_keys *k); /* NULL is fine */

/* Create a key with wanted's name, scopes, limits and expiry. *made is the new key with its id;
 * `secret` is what its owner sends. */
int dg_keys_add(struct dg_keys *k, const struct dg_key *wanted, int64_t now_s, struct dg_key *made,
    char secret[DG_KEY_SECRET], struct dg_error *err);
/* Fields of a key that dg_keys_set can change. */
enum dg_key_field {
    DG_KEY_NAME = 1,
    DG_KEY_SCOPES = 2,
    DG_KEY_RATE = 4,
    DG_KEY_CHARACTERS = 8,
    DG_KEY_EXPIRY = 16
};
/* Set the given fields (or'ed) of the key with this id to those of wanted. DG_ENOTFOUND. */
int dg_keys_set(struct dg_keys *k, const char *id, const struct dg_key *wanted, unsigned fields,
    struct dg_error *err);
/* Revoke a key for good. DG_ENOTFOUND: no such id. Revoking twice is fine. */
int dg_keys_revoke(struct dg_keys *k, const char *id, int64_t now_s, struct dg_error *err);
/* All keys, revoked ones included, oldest first: *out[*n], caller frees. */
int dg_keys_list(struct dg_keys *k, struct dg_key **out, size_t *n, struct dg_error *err);

/* *changed: another program (or connection) has written since the last call, or has replaced the
 * file; in that case the new file is opened. DG_EIO: the file is gone. */
int dg_keys_changed(struct dg_keys *k, bool *changed, struct dg_error *err);

/* Add all of list[n] to the counters, or nothing. Keys that no longer exist are skipped. When this
 * returns, all writes are in the file itself unless another program is reading it, so that a
 * replacement of the file does not mix with SQLite's side files. */
int dg_keys_use(struct dg_keys *k, const struct dg_key_usage *list, size_t n, struct dg_error *err);
/* Usage from first_day on, by key and day: *out[*n], caller frees. */
int dg_keys_usage(struct dg_keys *k, int64_t first_day, struct dg_key_usage **out, size_t *n,
    struct dg_error *err);

void dg_keys_hash(const char *secret, size_t n, unsigned char out[DG_KEY_HASH]);
/* Parse an expiry: "never", "2027-01-31" (its last day, UTC), "2027-01-31T12:00:00Z", "30d" or
 * "12h" from now. *expires_s is in seconds since the epoch, 0: never. DG_EINVAL: another form, or
 * in the past. */
int dg_keys_expiry_read(const char *text, int64_t now_s, int64_t *expires_s, struct dg_error *err);
/* Parse "translate,admin" into bits. DG_EINVAL names the unknown word. */
int dg_keys_scopes_read(const char *text, unsigned *scopes, struct dg_error *err);
/* The text of scopes; static storage. */
const char *dg_keys_scopes_name(unsigned scopes);

#endif
