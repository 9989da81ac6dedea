#include "store/pairs_file.h"

#include "base/file.h"
#include "store/csv.h"
#include "store/tmx.h"
#include "store/tsv.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

typedef int read_function(const char *s, size_t n, const char *source_lang, const char *target_lang,
    dg_memory_visit *visit, void *ctx, struct dg_error *err);

/* A TMX file names its own languages. */
static int read_tmx(const char *s, size_t n, const char *source_lang, const char *target_lang,
    dg_memory_visit *visit, void *ctx, struct dg_error *err)
{
    (void)source_lang;
    (void)target_lang;
    return dg_tmx_read(s, n, visit, ctx, err);
}

static const struct {
    const char *end;
    read_function *read;
    bool names_languages;
} kinds[] = {{".tsv", dg_tsv_read, false}, {".csv", dg_csv_read, true}, {".tmx", read_tmx, true}};

static int kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof kinds / sizeof *kinds; i++)
        if (strcasecmp(dot, kinds[i].end) == 0)
            return (int)i;
    return -1;
}

static int is_pairs_file(const struct dirent *e)
{
    return e->d_name[0] != '.' && kind_of(e->d_name) >= 0;
}

void dg_pairs_files_free(char **files, size_t n)
{
    for (size_t i = 0; files && i < n; i++)
        free(files[i]);
    free(files);
}

int dg_pairs_files(const char *path, char ***out, size_t *n, struct dg_error *err)
{
    struct stat info;
    struct dirent **found = NULL;
    if (stat(path, &info) != 0)
        return dg_error_set(err, DG_EIO, "%s: %s", path, strerror(errno));
    const bool one = !S_ISDIR(info.st_mode);
    const int names = one ? 1 : scandir(path, &found, is_pairs_file, alphasort);
    if (names < 0)
        return dg_error_set(err, DG_EIO, "%s: %s", path, strerror(errno));
    char **files = calloc((size_t)names + 1, sizeof *files);
    bool whole = files != NULL;
    for (int i = 0; i < names; i++) {
        if (whole) {
            files[i] = one ? strdup(path) : dg_file_join(path, found[i]->d_name);
            whole = files[i] != NULL;
        }
        if (!one)
            free(found[i]);
    }
    free(found);
    *n = (size_t)names;
    *out = files;
    if (whole)
        return DG_OK;
    dg_pairs_files_free(files, *n);
    *out = NULL;
    return dg_error_set(err, DG_ENOMEM, "no memory for %d files", names);
}

#define SMALL "abcdefghijklmnopqrstuvwxyz"
#define LETTERS SMALL "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* True if a language code may begin here: two or three letters, then a further subtag or the end.
 */
static bool begins_code(const char *s, const char *letters)
{
    const size_t n = strspn(s, letters);
    return (n == 2 || n == 3) && strchr("-_", s[n]);
}

/* The hyphen between two codes, which may have hyphens of their own: the first one before a
 * language in small letters ("en-pt-BR", "zh-Hans-en"), else before any ("EN-DE"). NULL: none. */
static const char *find_middle(const char *codes)
{
    const char *other = NULL;
    for (const char *h = strchr(codes, '-'); h; h = strchr(h + 1, '-')) {
        if (begins_code(h + 1, SMALL))
            return h;
        if (!other && begins_code(h + 1, LETTERS))
            other = h;
    }
    return other;
}

bool dg_pairs_file_languages(const char *path, char source[36], char target[36])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char copy[256], code[DG_MEMORY_LANGUAGE];
    snprintf(copy, sizeof copy, "%s", name);
    char *end = strrchr(copy, '.');
    if (end)
        *end = '\0';
    const char *dot = strrchr(copy, '.'), *codes = dot ? dot + 1 : copy;
    const char *middle = begins_code(codes, LETTERS) ? find_middle(codes) : NULL;
    if (!middle || middle - codes > 35 || strlen(middle + 1) > 35)
        return false;
    snprintf(source, 36, "%.*s", (int)(middle - codes), codes);
    snprintf(target, 36, "%s", middle + 1);
    return dg_memory_language(source, code, NULL) == DG_OK &&
           dg_memory_language(target, code, NULL) == DG_OK;
}

int dg_pairs_file_read(const char *path, const char *source_lang, const char *target_lang,
    dg_memory_visit *visit, void *ctx, struct dg_error *err)
{
    const int kind = kind_of(path);
    struct dg_map file;
    char source[36], target[36];
    if (kind < 0)
        return dg_error_set(
            err, DG_EINVAL, "%s: a file of pairs has a name that ends in .tsv, .csv or .tmx", path);
    if (dg_pairs_file_languages(path, source, target)) {
        source_lang = source;
        target_lang = target;
    }
    if (!kinds[kind].names_languages && (!source_lang || !target_lang))
        return dg_error_set(err, DG_EINVAL,
            "%s: its name says no languages, expected one such as terms.en-de.tsv", path);
    int rc = dg_file_load(path, &file, err);
    if (rc != DG_OK)
        return rc;
    if (file.size > DG_PAIRS_FILE_BYTES)
        rc = dg_error_set(err, DG_ELIMIT, "the file has %zu bytes, the limit is %u", file.size,
            DG_PAIRS_FILE_BYTES);
    else
        rc = kinds[kind].read(
            (const char *)file.data, file.size, source_lang, target_lang, visit, ctx, err);
    dg_file_unmap(&file);
    if (rc != DG_OK)
        dg_error_prefix(err, "%s", path);
    return rc;
}
