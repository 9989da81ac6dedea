/* Packed files for fuzz targets, from their members as plain text. A fuzzer that changes an archive
 * itself seldom gets beyond the checksums of its members. */
#ifndef DG_TESTS_FUZZ_PACKAGE_H
#define DG_TESTS_FUZZ_PACKAGE_H

#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <zip.h>

#define FUZZ_MEMBER "@@ "

/* Adds the member whose head line begins at s, and returns where the next one begins. */
static inline const char *fuzz_add_member(zip_t *z, const char *s, const char *end)
{
    char name[128];
    s += strlen(FUZZ_MEMBER);
    const char *line = memchr(s, '\n', (size_t)(end - s));
    const char *text = line ? line + 1 : end;
    const char *next = memmem(text, (size_t)(end - text), "\n" FUZZ_MEMBER, 4);
    next = next ? next + 1 : end;
    snprintf(name, sizeof name, "%.*s", (int)((line ? line : end) - s), s);
    zip_source_t *source = zip_source_buffer(z, text, (size_t)(next - text), 0);
    require(source != NULL);
    zip_int64_t i = zip_file_add(z, name, source, 0);
    if (i < 0) { /* a name twice, or not UTF-8 */
        zip_source_free(source);
    } else {
        zip_file_set_mtime(z, (zip_uint64_t)i, 0, 0);
        zip_set_file_compression(z, (zip_uint64_t)i, ZIP_CM_STORE, 0); /* faster */
    }
    return next;
}

/* The bytes that were written to the source, malloc'd without room behind them. */
static inline char *fuzz_take(zip_source_t *source, size_t *n)
{
    zip_stat_t st;
    require(zip_source_open(source) == 0 && zip_source_stat(source, &st) == 0);
    char *out = malloc(st.size);
    require(out != NULL && zip_source_read(source, out, st.size) == (zip_int64_t)st.size);
    zip_source_close(source);
    *n = (size_t)st.size;
    return out;
}

/* Returns the archive of members s[size], malloc'd: each is a line "@@ NAME" and the lines up to
 * the next one. NULL, n = 0: no member has a name that an archive may have. */
static inline char *fuzz_package(const char *s, size_t size, size_t *n)
{
    zip_error_t why;
    char *out = NULL;
    zip_error_init(&why);
    zip_source_t *source = zip_source_buffer_create(NULL, 0, 0, &why);
    require(source != NULL);
    zip_source_keep(source);
    zip_t *z = zip_open_from_source(source, ZIP_TRUNCATE, &why);
    require(z != NULL);
    for (const char *at = s; at < s + size;)
        at = fuzz_add_member(z, at, s + size);
    *n = 0;
    if (zip_get_num_entries(z, 0) == 0) {
        zip_discard(z);
    } else {
        require(zip_close(z) == 0);
        out = fuzz_take(source, n);
    }
    zip_source_free(source);
    zip_error_fini(&why);
    return out;
}

#endif
