#include "convert/pull/lookup.h"

#include "base/file.h"
#include "convert/pull/sources.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { INDEX_BYTES = 64 << 20, PAGES = 30 };

static bool is_https(const char *s)
{
    return strncasecmp(s, "https://", 8) == 0;
}

static int parse(
    const struct dg_buffer *text, const char *where, struct dg_json **out, struct dg_error *err)
{
    struct dg_error why = {0};
    *out = dg_json_parse(text->data ? text->data : "", text->len, &why);
    return *out ? 0 : dg_error_set(err, why.code, "%.250s: %.200s", where, why.message);
}

/* Load an index from its address, or from a file. */
static int load_index(
    struct dg_downloader *d, const char *where, struct dg_json **out, struct dg_error *err)
{
    struct dg_buffer text;
    dg_buffer_init(&text);
    int rc = is_https(where) ? dg_download_text(d, where, INDEX_BYTES, &text, NULL, err)
             : strstr(where, "://")
                 ? dg_error_field(err, DG_EINVAL, "index",
                       "the index is \"%.200s\", expected https:// or a file", where)
                 : dg_file_read(where, &text, err);
    if (!rc)
        rc = parse(&text, where, out, err);
    dg_buffer_deinit(&text);
    return rc;
}

/* The root of a Remote Settings server says where its attachments are. */
static int attachments_of(
    struct dg_downloader *d, const char *index, char *out, size_t cap, struct dg_error *err)
{
    const char *v1 = strstr(index, "/v1/buckets/");
    struct dg_json *root = NULL;
    char url[2048];
    snprintf(out, cap, "%s", DG_FIREFOX_ATTACHMENTS);
    if (!is_https(index) || !v1)
        return 0;
    snprintf(url, sizeof url, "%.*s/v1/", (int)(v1 - index < 2000 ? v1 - index : 2000), index);
    int rc = load_index(d, url, &root, err);
    const char *base = dg_json_string(
        dg_json_get(dg_json_get(dg_json_get(root, "capabilities"), "attachments"), "base_url"),
        NULL);
    if (!rc && !base)
        rc = dg_error_set(
            err, DG_EFORMAT, "%.200s: capabilities.attachments.base_url is missing", url);
    if (!rc)
        snprintf(out, cap, "%s", base);
    dg_json_free(root);
    return rc;
}

static int find_firefox(struct dg_downloader *d, const char *rest, const char *index,
    struct dg_listing *out, struct dg_error *err)
{
    char pair[128], base[1024];
    const char *colon = strchr(rest, ':');
    struct dg_json *json = NULL;
    index = index ? index : DG_FIREFOX_INDEX;
    snprintf(pair, sizeof pair, "%.*s", (int)strcspn(rest, ":"), rest);
    int rc = load_index(d, index, &json, err);
    if (!rc && dg_json_get(json, "data"))
        rc = attachments_of(d, index, base, sizeof base, err);
    if (!rc)
        rc = dg_firefox_find(json, base, pair, colon ? colon + 1 : NULL, out, err);
    dg_json_free(json);
    return rc;
}

static int find_argos(struct dg_downloader *d, const char *rest, const char *index,
    struct dg_listing *out, struct dg_error *err)
{
    struct dg_json *json = NULL;
    int rc = load_index(d, index ? index : DG_ARGOS_INDEX, &json, err);
    if (!rc)
        rc = dg_argos_find(json, rest, out, err);
    dg_json_free(json);
    return rc;
}

/* The hub's address, without a slash at its end. */
static void hub_address(const char *index, char out[1024])
{
    const char *named = getenv("HF_ENDPOINT");
    snprintf(out, 1024, "%s",
        index && is_https(index) ? index
        : named && named[0]      ? named
                                 : DG_HUB);
    for (size_t n = strlen(out); n > 0 && out[n - 1] == '/'; n--)
        out[n - 1] = '\0';
}

/* OWNER/REPO or OWNER/REPO@REVISION. */
static int find_repository(struct dg_downloader *d, const char *rest, const char *index,
    struct dg_listing *out, struct dg_error *err)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
    char hub[1024], repository[300], url[2048];
    const size_t n = strcspn(rest, "@");
    const char *revision = rest[n] ? rest + n + 1 : NULL, *slash = memchr(rest, '/', n);
    struct dg_json *json = NULL;
    if (!slash || slash == rest || slash == rest + n - 1 ||
        memchr(slash + 1, '/', n - 1 - (size_t)(slash - rest)) || n >= sizeof repository ||
        strspn(rest, plain) != n || strstr(rest, "..") ||
        (revision && (!revision[0] || strspn(revision, plain) != strlen(revision))))
        return dg_error_field(err, DG_EINVAL, "source",
            "\"%.200s\" is not a repository: expected OWNER/REPO or OWNER/REPO@REVISION", rest);
    hub_address(index, hub);
    snprintf(repository, sizeof repository, "%.*s", (int)n, rest);
    snprintf(url, sizeof url, "%.1000s/api/models/%s%s%.200s?blobs=true", hub, repository,
        revision ? "/revision/" : "", revision ? revision : "");
    int rc = load_index(d, index && !is_https(index) ? index : url, &json, err);
    if (!rc)
        rc = dg_hub_find(json, hub, repository, out, err);
    dg_json_free(json);
    return rc;
}

/* "en-de" is Helsinki-NLP/opus-mt-en-de, "tc-big-en-de" its larger one. */
static int find_opus(struct dg_downloader *d, const char *rest, const char *index,
    struct dg_listing *out, struct dg_error *err)
{
    char repository[300];
    snprintf(repository, sizeof repository, "Helsinki-NLP/opus-mt-%.200s", rest);
    int rc = find_repository(d, repository, index, out, err);
    if (rc == DG_ENOTFOUND && err)
        dg_error_prefix(
            err, "opus-mt has no %.60s (`dragoman pull --list opus-mt` lists its models)", rest);
    return rc;
}

/* Names the file after the last part of the address, without a query. */
static int find_address(const char *source, struct dg_listing *out, struct dg_error *err)
{
    const size_t n = strcspn(source, "?#");
    size_t begin = n;
    char name[200];
    while (begin > 8 && source[begin - 1] != '/')
        begin--;
    snprintf(name, sizeof name, "%.*s", (int)(n - begin), source + begin);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-+", *c))
            *c = '_';
    const struct dg_listing_file f = {.name = name, .url = source};
    out->note = "the source gives neither size nor hash of the file";
    return dg_listing_add(out, &f, err);
}

static const char *after(const char *source, const char *service)
{
    const size_t n = strlen(service);
    return strncmp(source, service, n) == 0 && source[n] == '/' && source[n + 1] ? source + n + 1
                                                                                 : NULL;
}

int dg_lookup_find(struct dg_downloader *d, const char *source, const char *index,
    struct dg_listing *out, struct dg_error *err)
{
    const char *rest;
    int rc;
    if ((rest = after(source, "firefox")))
        rc = find_firefox(d, rest, index, out, err);
    else if ((rest = after(source, "argos")))
        rc = find_argos(d, rest, index, out, err);
    else if ((rest = after(source, "opus-mt")))
        rc = find_opus(d, rest, index, out, err);
    else if ((rest = after(source, "hf")))
        rc = find_repository(d, rest, index, out, err);
    else if (is_https(source))
        rc = find_address(source, out, err);
    else
        return dg_error_field(err, DG_EINVAL, "source",
            "\"%.100s\" is not a source: expected firefox/en-de, opus-mt/en-de, argos/en-de, "
            "hf/OWNER/REPO or https://...",
            source);
    if (!rc && !out->id)
        out->id = dg_arena_strdup(&out->arena, source);
    if (!rc && !out->n_files)
        rc = dg_error_set(err, DG_EFORMAT, "%.100s: the index names no file of it", source);
    return rc ? rc : out->id ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for a listing");
}

/* List all pages of the hub. */
static int list_hub(
    struct dg_downloader *d, const char *index, struct dg_buffer *out, struct dg_error *err)
{
    char hub[1024], url[2048], next[2048] = "";
    struct dg_buffer text;
    int rc = 0;
    hub_address(index, hub);
    snprintf(url, sizeof url, "%s/api/models?author=Helsinki-NLP&search=opus-mt&limit=1000", hub);
    dg_buffer_init(&text);
    for (int page = 0; page < PAGES && url[0] && !rc; page++) {
        struct dg_json *json = NULL;
        rc = dg_download_text(d, url, INDEX_BYTES, &text, next, err);
        if (!rc)
            rc = parse(&text, url, &json, err);
        if (!rc)
            rc = dg_hub_list(json, out, err);
        dg_json_free(json);
        snprintf(url, sizeof url, "%s", next);
    }
    dg_buffer_deinit(&text);
    return rc;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sort the lines, drop duplicates, and replace control characters by '?'. */
static int tidy(struct dg_buffer *text, struct dg_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < text->len; i++) {
        n += text->data[i] == '\n';
        if (text->data[i] != '\n' && iscntrl((unsigned char)text->data[i]))
            text->data[i] = '?';
    }
    char *copy = text->len ? strdup(text->data) : NULL, **lines = calloc(n + 1, sizeof *lines);
    if (text->failed || !lines || (text->len && !copy)) {
        free(copy);
        free(lines);
        return dg_error_set(err, DG_ENOMEM, "no memory for the list");
    }
    char *at = copy;
    for (size_t i = 0; i < n; i++)
        lines[i] = strsep(&at, "\n");
    qsort(lines, n, sizeof *lines, compare_lines);
    dg_buffer_reset(text);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(lines[i], lines[i - 1]) != 0)
            dg_buffer_addf(text, "%s\n", lines[i]);
    free(copy);
    free(lines);
    return 0;
}

int dg_lookup_list(struct dg_downloader *d, const char *service, const char *index,
    struct dg_buffer *out, struct dg_error *err)
{
    const bool firefox = strcmp(service, "firefox") == 0, argos = strcmp(service, "argos") == 0;
    struct dg_json *json = NULL;
    int rc;
    if (!firefox && !argos && strcmp(service, "opus-mt") != 0)
        return dg_error_field(err, DG_EINVAL, "source",
            "\"%.100s\" has no list: expected firefox, opus-mt or argos", service);
    if (!firefox && !argos && (!index || is_https(index))) {
        rc = list_hub(d, index, out, err);
        return rc ? rc : tidy(out, err);
    }
    rc = load_index(d, index ? index : firefox ? DG_FIREFOX_INDEX : DG_ARGOS_INDEX, &json, err);
    if (!rc)
        rc = firefox ? dg_firefox_list(json, out, err)
             : argos ? dg_argos_list(json, out, err)
                     : dg_hub_list(json, out, err);
    dg_json_free(json);
    return rc ? rc : tidy(out, err);
}

int dg_lookup_name(const char *source, char out[128], struct dg_error *err)
{
    size_t n = 0;
    bool gap = false;
    for (const char *s = source; *s && n < 126; s++) {
        if (!isalnum((unsigned char)*s) && !strchr("._", *s)) {
            gap = n > 0;
            continue;
        }
        if (*s == '.' && n == 0)
            continue;
        if (gap)
            out[n++] = '-';
        gap = false;
        out[n++] = *s;
    }
    out[n] = '\0';
    return n > 0 && n < 120
               ? 0
               : dg_error_field(err, DG_EINVAL, "name",
                     "\"%.100s\" gives no name for a directory: give one with --name", source);
}
