#include "store/pairs_file.h"

#include "base/file.h"
#include "store/csv.h"
#include "store/tmx.h"
#include "store/tsv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef int read_function(const char *s, size_t n, const char *source_lang, const char *target_lang,
    dg_memory_visit *visit, void *ctx, struct dg_error *err);

/* Its languages are the file's own. */
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

bool dg_pairs_file_is(const char *path)
{
    return kind_of(path) >= 0;
}

bool dg_pairs_same_language(const char *a, const char *b)
{
    const size_t n = strcspn(a, "-_"), m = strcspn(b, "-_");
    if (!a[n] || !b[m])
        return n == m && strncasecmp(a, b, n) == 0;
    return n == m && strncasecmp(a, b, n) == 0 && strcasecmp(a + n + 1, b + m + 1) == 0;
}

bool dg_pairs_file_languages(const char *path, char source[36], char target[36])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char copy[256];
    snprintf(copy, sizeof copy, "%s", name);
    char *end = strrchr(copy, '.');
    if (end)
        *end = '\0';
    char *dot = strrchr(copy, '.'), *codes = dot ? dot + 1 : copy, *dash = strchr(codes, '-');
    const size_t n = dash ? (size_t)(dash - codes) : 0;
    const size_t letters = strspn(codes, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (!dash || letters != n || n < 2 || n > 3 || strlen(dash + 1) < 2 || strlen(dash + 1) > 35)
        return false;
    snprintf(source, 36, "%.*s", (int)n, codes);
    snprintf(target, 36, "%s", dash + 1);
    return true;
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
