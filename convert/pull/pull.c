#include "convert/pull/pull.h"

#include "base/file.h"
#include "base/json.h"
#include "convert/pull/install.h"
#include "convert/pull/lookup.h"
#include "convert/pull/progress.h"
#include "convert/pull/tree.h"
#include "weights/bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MOST_BYTES (32ULL << 30)

/* Prints untrusted text on a terminal. */
static void print_plain(const char *label, const char *text)
{
    char plain[1024];
    dg_error_plain(text, plain, sizeof plain);
    printf("%-11s %s\n", label, plain);
}

static int open_downloader(
    const struct dg_pull *p, struct dg_downloader **out, struct dg_error *err)
{
    const struct dg_download_options o = {
        .ca_file = p->ca_file, .stall_seconds = p->stall_seconds, .quiet = p->quiet};
    return dg_downloader_open(&o, out, err);
}

static void print_licence(const char *licence)
{
    print_plain("licence", licence ? licence : "not stated by the source");
    if (licence && dg_licence_is_non_commercial(licence))
        printf("            NON-COMMERCIAL: this licence forbids commercial use\n");
}

static void print_listing(const struct dg_listing *l)
{
    char size[32];
    print_plain("model", l->id);
    if (dg_listing_size(l))
        printf("files       %zu, %s\n", l->n_files,
            dg_progress_size(dg_listing_size(l), size, sizeof size));
    else
        printf("files       %zu\n", l->n_files);
    for (size_t i = 0; i < l->n_files; i++)
        print_plain("", l->files[i].url);
    if (l->note)
        printf("note        %s\n", l->note);
    print_licence(l->licence);
    fflush(stdout);
}

/* The folder of this model's downloads, and of nothing else: no bundle and no name that a user
 * gives begins with a dot, even if the cache is the directory of models. */
static int download_folder(
    const struct dg_pull *p, const char *name, char out[4096], struct dg_error *err)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = p->cache            ? snprintf(out, 4096, "%s/.download-%s", p->cache, name)
            : cache && cache[0] ? snprintf(out, 4096, "%s/dragoman/.download-%s", cache, name)
            : home && home[0]   ? snprintf(out, 4096, "%s/.cache/dragoman/.download-%s", home, name)
                                : 0;
    if (n == 0)
        return dg_error_field(err, DG_EINVAL, "cache",
            "there is no folder to download into: give one with --cache, or set HOME");
    return n < 3800 ? dg_file_make_dir(out, err)
                    : dg_error_set(err, DG_EINVAL, "the path %.200s... is too long", out);
}

static const char *expected_hash(const struct dg_pull *p, const struct dg_listing_file *f)
{
    return p->sha256 ? p->sha256 : f->sha256;
}

/* Was the bundle made of these files, as far as their source or the caller gives hashes? */
static bool has_files(
    const struct dg_pull *p, const struct dg_json *origin, const struct dg_listing *l)
{
    const struct dg_json *files = dg_json_get(origin, "files");
    if (dg_json_length(files) != l->n_files)
        return false;
    for (size_t i = 0; i < l->n_files; i++) {
        const struct dg_listing_file *f = &l->files[i];
        const struct dg_json *had = dg_json_at(files, i);
        const char *url = dg_json_string(dg_json_get(had, "url"), NULL);
        const char *sha256 = dg_json_string(dg_json_get(had, "sha256"), NULL);
        const char *expected = expected_hash(p, f);
        /* An address with a commit in it is as good as a hash. */
        const bool same = expected[0] ? sha256 && strcmp(sha256, expected) == 0
                                      : f->git[0] && url && strcmp(url, f->url) == 0;
        if (!same)
            return false;
    }
    return l->n_files > 0;
}

static const char *recorded(const struct dg_json *origin, const char *option)
{
    return dg_json_string(dg_json_get(origin, option), NULL);
}

/* Are the options that were given those of the installed model? A manifest without a record, of an
 * older pull, is not known to have any. */
static bool has_options(const struct dg_pull *p, const struct dg_json *origin)
{
    const char *const options[][2] = {
        {"type", p->type}, {"source_lang", p->source_lang}, {"target_lang", p->target_lang}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const char *given = options[i][1], *had = recorded(origin, options[i][0]);
        if (given && (!had || strcmp(had, given) != 0))
            return false;
    }
    return true;
}

static int download(const struct dg_pull *p, struct dg_downloader *d, const char *folder,
    const struct dg_listing_file *f, struct dg_install_file *out, struct dg_error *err)
{
    char *path;
    struct dg_downloaded got;
    if (asprintf(&path, "%s/%s", folder, f->name) < 0)
        return dg_error_set(err, DG_ENOMEM, "no memory for a path");
    const struct dg_download one = {.name = f->name,
        .url = f->url,
        .path = path,
        .size = f->size,
        .most = MOST_BYTES,
        .sha256 = expected_hash(p, f),
        .git = f->git};
    int rc = dg_download_file(d, &one, &got, err);
    *out = (struct dg_install_file){.path = path,
        .url = f->url,
        .size = rc ? 0 : got.size,
        .verified = one.sha256[0] || f->git[0] || f->unpacked_sha256[0],
        .unpacked_size = f->unpacked_size};
    snprintf(out->unpacked_sha256, sizeof out->unpacked_sha256, "%s", f->unpacked_sha256);
    if (!rc)
        snprintf(out->sha256, sizeof out->sha256, "%s", got.sha256);
    return rc;
}

static int install(const struct dg_pull *p, const struct dg_install *what, struct dg_error *err)
{
    struct dg_child_report report;
    printf("converting and testing it%s\n", strcmp(what->type, "int8") == 0 ? ", in int8" : "");
    int rc = dg_install(what, &report, err);
    if (rc)
        return rc;
    if (report.has_network)
        printf("note        this kernel has no network namespaces: the conversion ran with "
               "network access\n");
    print_plain("translated", report.source);
    print_plain("", report.answer);
    printf("installed   %s/%s\n", p->models, report.name);
    return 0;
}

static int fetch_and_install(const struct dg_pull *p, struct dg_downloader *d,
    const struct dg_listing *l, const char *source, const char *name, struct dg_error *err)
{
    struct dg_install_file files[DG_LISTING_FILES] = {0};
    char folder[4096];
    int rc = dg_install_check(p->models, err);
    if (!rc)
        rc = download_folder(p, name, folder, err);
    for (size_t i = 0; i < l->n_files && !rc; i++)
        rc = download(p, d, folder, &l->files[i], &files[i], err);
    const struct dg_install what = {.models = p->models,
        .name = name,
        .source = source,
        .source_lang = p->source_lang ? p->source_lang : l->source_lang,
        .target_lang = p->target_lang ? p->target_lang : l->target_lang,
        .licence = l->licence,
        .files = files,
        .n_files = l->n_files,
        .type = p->type ? p->type : dg_install_types[0],
        .prove = p->prove};
    if (!rc)
        rc = install(p, &what, err);
    if (!rc)
        rc = dg_tree_remove(folder, err);
    for (size_t i = 0; i < l->n_files; i++)
        free((char *)files[i].path);
    return rc;
}

/* Take options that were not given from the installed model's, if it is this one. */
static void keep_options(
    struct dg_pull *p, const char *source, bool same_files, const struct dg_json *origin)
{
    const char *from = recorded(origin, "source");
    if (!same_files && (!from || strcmp(from, source) != 0))
        return;
    p->type = p->type ? p->type : recorded(origin, "type");
    p->source_lang = p->source_lang ? p->source_lang : recorded(origin, "source_lang");
    p->target_lang = p->target_lang ? p->target_lang : recorded(origin, "target_lang");
}

static int pull(const struct dg_pull *given, struct dg_downloader *d, const char *source,
    const char *name, const struct dg_json *there, struct dg_error *err)
{
    const struct dg_json *origin = dg_json_get(there, "origin");
    struct dg_pull p = *given;
    struct dg_listing l;
    dg_listing_init(&l);
    int rc = dg_lookup_find(d, source, p.index, &l, err);
    if (!rc && p.sha256 && l.n_files != 1)
        rc = dg_error_field(err, DG_EINVAL, "sha256",
            "--sha256 is the hash of one file, and %s has %zu", source, l.n_files);
    const bool same_files = !rc && has_files(&p, origin, &l);
    if (same_files && has_options(&p, origin))
        printf("%s is installed and up to date: %s/%s\n", source, p.models, name);
    else if (!rc) {
        keep_options(&p, source, same_files, origin);
        print_listing(&l);
        rc = fetch_and_install(&p, d, &l, source, name, err);
    }
    dg_listing_deinit(&l);
    return rc;
}

/* Derive a bundle's name. Of an address or a path only the file name counts, without the endings of
 * archives. */
static int name_of(const char *source, bool file, char name[128], struct dg_error *err)
{
    static const char *const ends[] = {
        ".zip", ".argosmodel", ".tar", ".gz", ".tgz", ".zst", ".bz2", ".xz"};
    char stem[256];
    const size_t whole = strcspn(source, "?#");
    const char *begin = source;
    if (file || strstr(source, "://"))
        for (const char *s = source; s + 1 < source + whole; s++)
            begin = *s == '/' ? s + 1 : begin;
    snprintf(stem, sizeof stem, "%.*s", (int)(source + whole - begin), begin);
    for (bool cut = true; cut;) {
        cut = false;
        for (size_t i = 0; i < sizeof ends / sizeof ends[0] && !cut; i++) {
            const size_t n = strlen(stem), k = strlen(ends[i]);
            cut = n > k && strcasecmp(stem + n - k, ends[i]) == 0;
            stem[cut ? n - k : n] = '\0';
        }
    }
    return dg_lookup_name(stem, name, err);
}

int dg_pull_source(const struct dg_pull *p, const char *source, struct dg_error *err)
{
    struct dg_downloader *d = NULL;
    struct dg_json *there = NULL;
    char name[128];
    int rc = p->name ? 0 : name_of(source, false, name, err);
    if (p->name)
        snprintf(name, sizeof name, "%.127s", p->name);
    if (!rc)
        rc = dg_install_look(p->models, name, &there, err);
    if (!rc && there && p->if_missing) {
        printf("%s is installed: %s/%s\n", source, p->models, name);
    } else if (!rc) {
        rc = open_downloader(p, &d, err);
        if (!rc)
            rc = pull(p, d, source, name, there, err);
    }
    dg_downloader_close(d);
    dg_json_free(there);
    return rc;
}

/* Check a local file and record its hash; a directory has none. */
static int look_at(const struct dg_pull *p, struct dg_install_file *f, struct dg_error *err)
{
    struct dg_map map = {0};
    struct dg_digest digest;
    char git[DG_GIT_DIGITS + 1];
    if (access(f->path, R_OK) != 0)
        return dg_error_set(err, DG_ENOTFOUND, "%.300s cannot be read", f->path);
    struct dg_error ignored = {0};
    if (dg_file_map(f->path, &map, &ignored) != 0)
        return 0;
    dg_digest_begin(&digest, map.size);
    dg_digest_add(&digest, map.data, map.size);
    dg_digest_end(&digest, f->sha256, git);
    f->size = map.size;
    f->verified = p->sha256 != NULL;
    dg_file_unmap(&map);
    if (p->sha256 && strcmp(p->sha256, f->sha256) != 0)
        return dg_error_field(err, DG_EFORMAT, "sha256", "%.200s: its sha256 is %s, expected %s",
            f->path, f->sha256, p->sha256);
    return 0;
}

int dg_pull_files(const struct dg_pull *p, char *const *paths, size_t n, struct dg_error *err)
{
    struct dg_install_file files[DG_LISTING_FILES] = {0};
    struct dg_json *there = NULL;
    char name[128] = "";
    int rc = 0;
    if (n > DG_LISTING_FILES)
        return dg_error_set(err, DG_ELIMIT, "%zu files, at most %d", n, DG_LISTING_FILES);
    if (p->sha256 && n != 1)
        return dg_error_field(
            err, DG_EINVAL, "sha256", "--sha256 is the hash of one file, and there are %zu", n);
    if (p->name)
        snprintf(name, sizeof name, "%.127s", p->name);
    else if (n == 1) /* several files: the converter names it by its languages */
        rc = name_of(paths[0], true, name, err);
    if (!rc && name[0])
        rc = dg_install_look(p->models, name, &there, err);
    for (size_t i = 0; i < n && !rc; i++) {
        files[i].path = paths[i];
        rc = look_at(p, &files[i], err);
    }
    const struct dg_install what = {.models = p->models,
        .name = name[0] ? name : NULL,
        .source = "files",
        .source_lang = p->source_lang,
        .target_lang = p->target_lang,
        .files = files,
        .n_files = n,
        .type = p->type ? p->type : dg_install_types[0],
        .prove = p->prove};
    if (!rc)
        rc = install(p, &what, err);
    dg_json_free(there);
    return rc;
}

int dg_pull_list(
    const struct dg_pull *p, const char *service, struct dg_buffer *out, struct dg_error *err)
{
    struct dg_downloader *d = NULL;
    int rc = open_downloader(p, &d, err);
    if (!rc)
        rc = dg_lookup_list(d, service, p->index, out, err);
    dg_downloader_close(d);
    return rc;
}
