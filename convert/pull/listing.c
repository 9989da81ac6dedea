#include "convert/pull/listing.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ARENA_LIMIT (1u << 20)

void dg_listing_init(struct dg_listing *l)
{
    memset(l, 0, sizeof *l);
    dg_arena_init(&l->arena, ARENA_LIMIT);
}

void dg_listing_deinit(struct dg_listing *l)
{
    dg_arena_deinit(&l->arena);
    memset(l, 0, sizeof *l);
}

/* Letters, digits and . _ - +, no leading dot or hyphen: a name that means the same to every shell,
 * file system and address. */
static bool is_plain_name(const char *s)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+";
    const size_t n = strlen(s);
    return n > 0 && n <= 200 && s[0] != '.' && s[0] != '-' && strspn(s, plain) == n;
}

/* Printable ASCII, so that nothing in it controls a terminal or splits a request. */
static bool is_address(const char *s)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < n; i++)
        if (s[i] <= ' ' || s[i] > '~')
            return false;
    return n < 4000 && strncasecmp(s, "https://", 8) == 0;
}

int dg_listing_add(struct dg_listing *l, const struct dg_listing_file *f, struct dg_error *err)
{
    if (!f->name || !is_plain_name(f->name))
        return dg_error_set(err, DG_EFORMAT,
            "the index names a file \"%.100s\", expected a plain name", f->name ? f->name : "");
    if (!f->url || !is_address(f->url))
        return dg_error_set(err, DG_EFORMAT,
            "the index has %s at \"%.200s\", expected an address with https://", f->name,
            f->url ? f->url : "");
    for (size_t i = 0; i < l->n_files; i++)
        if (strcmp(l->files[i].name, f->name) == 0)
            return dg_error_set(err, DG_EFORMAT, "the index has two files named %s", f->name);
    if (l->n_files == DG_LISTING_FILES)
        return dg_error_set(
            err, DG_ELIMIT, "the index has more than %d files of one model", DG_LISTING_FILES);
    struct dg_listing_file *to = &l->files[l->n_files];
    *to = *f;
    to->name = dg_arena_strdup(&l->arena, f->name);
    to->url = dg_arena_strdup(&l->arena, f->url);
    if (!to->name || !to->url)
        return dg_error_set(err, DG_ENOMEM, "no memory for the list of files");
    l->n_files++;
    return 0;
}

uint64_t dg_listing_size(const struct dg_listing *l)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < l->n_files; i++) {
        if (!l->files[i].size)
            return 0;
        sum += l->files[i].size;
    }
    return sum;
}

void dg_listing_hex(const struct dg_json *v, size_t n, char *out)
{
    const char *s = dg_json_string(v, NULL);
    out[0] = '\0';
    if (!s || strlen(s) != n || strspn(s, "0123456789abcdefABCDEF") != n)
        return;
    for (size_t i = 0; i <= n; i++)
        out[i] = (char)tolower((unsigned char)s[i]);
}

uint64_t dg_listing_bytes(const struct dg_json *v)
{
    const int64_t n = dg_json_int(v);
    return n > 0 ? (uint64_t)n : 0;
}

bool dg_listing_is_pair(const char *pair, const char *source, const char *target)
{
    const size_t n = strlen(source), m = strlen(target);
    return strlen(pair) == n + 1 + m && (pair[n] == '-' || pair[n] == '_') &&
           strncasecmp(pair, source, n) == 0 && strcasecmp(pair + n + 1, target) == 0;
}
