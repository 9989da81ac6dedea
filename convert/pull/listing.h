/* A source's index entry of one model: its files, their addresses and expected hashes. Nothing in
 * an index is trusted: names are checked before they become files, addresses and hashes before they
 * are used. Any thread, one struct per caller. */
#ifndef DG_CONVERT_PULL_LISTING_H
#define DG_CONVERT_PULL_LISTING_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "convert/pull/digest.h"

#include <stdbool.h>
#include <stdint.h>

enum { DG_LISTING_FILES = 64 };

struct dg_listing_file {
    /* Name on disk, a plain one. */
    const char *name;
    const char *url;
    /* In bytes; 0: not given. */
    uint64_t size;
    /* Lower-case digits; "": not given. */
    char sha256[DG_SHA256_DIGITS + 1], git[DG_GIT_DIGITS + 1];
    /* Size and hash of the content of a .gz or .zst. */
    uint64_t unpacked_size;
    char unpacked_sha256[DG_SHA256_DIGITS + 1];
};

struct dg_listing {
    /* "firefox/en-de:tiny", as a user types it. */
    const char *id;
    /* BCP 47; NULL: as in the model's own files. */
    const char *source_lang, *target_lang;
    /* As the source gives it; NULL: not given. */
    const char *licence;
    /* A note for the user, or NULL. */
    const char *note;
    struct dg_listing_file files[DG_LISTING_FILES];
    size_t n_files;
    /* Holds the strings. */
    struct dg_arena arena;
};

void dg_listing_init(struct dg_listing *l);
void dg_listing_deinit(struct dg_listing *l);

/* Add a file; its members are copied. DG_EFORMAT: a name that is not plain or occurs twice, an
 * address that is not https; DG_ELIMIT: too many files. */
int dg_listing_add(struct dg_listing *l, const struct dg_listing_file *f, struct dg_error *err);
/* The sum of the files' sizes; 0 when one of them is not known. */
uint64_t dg_listing_size(const struct dg_listing *l);

/* Write v to out[n + 1] in lower case if it is n hexadecimal digits; otherwise write "". */
void dg_listing_hex(const struct dg_json *v, size_t n, char *out);
/* A whole number that is not negative; 0 for everything else. */
uint64_t dg_listing_bytes(const struct dg_json *v);

/* Is "en-de" (or "en_de", in any letter case) the pair of these languages? */
bool dg_listing_is_pair(const char *pair, const char *source, const char *target);

#endif
