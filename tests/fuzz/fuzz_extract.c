/* libFuzzer target for files (documents/). The first byte chooses the kind, the rest is the file.
 * Property: any file is read or refused with a message; with its own texts as answers it is written
 * byte for byte as it was, unless it holds both languages; and it can be written with other
 * answers, too. */
#include "documents/extract.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* Changes the words; tags and the characters between words stay. */
static char *other_words(const struct dg_extract_text *t)
{
    char *s = strndup(t->s, t->n);
    require(s != NULL);
    for (size_t i = 0, tag = 0; i < t->n; i++) {
        tag = s[i] == '<' ? 1 : s[i] == '>' ? 0 : tag;
        if (!tag && s[i] >= 'a' && s[i] <= 'y')
            s[i]++;
    }
    return s;
}

static void write_back(
    const struct dg_extract *x, const char *file, size_t n, int other, int filled)
{
    size_t count = dg_extract_count(x);
    struct dg_extract_answer *answers = calloc(count + 1, sizeof *answers);
    struct dg_buffer out;
    struct dg_error err = {0};
    require(answers != NULL);
    for (size_t i = 0; i < count; i++) {
        struct dg_extract_text t;
        dg_extract_text(x, i, &t);
        answers[i] = (struct dg_extract_answer){other ? other_words(&t) : t.s, t.n};
    }
    dg_buffer_init(&out);
    /* members that were never read may be broken, which shows only when the others change */
    int rc = dg_extract_write(x, answers, "de", &out, &err);
    require(rc == DG_OK || (rc == DG_EINVAL && other && memmem(file, n, "PK", 2)));
    require(other || filled || (out.len == n && (n == 0 || memcmp(out.data, file, n) == 0)));
    for (size_t i = 0; i < count && other; i++)
        free((char *)answers[i].s);
    dg_buffer_deinit(&out);
    free(answers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct dg_extract_limits limits = {1 << 20, 1 << 20, 10000, 1 << 20};
    size_t kinds = 0;
    struct dg_extract *x = NULL;
    struct dg_error err = {0};
    if (size < 1)
        return 0;
    while (dg_extract_suffixes[kinds])
        kinds++;
    const char *suffix = dg_extract_suffixes[data[0] % kinds];
    const char *file = (const char *)data + 1;
    const int filled = !strncmp(suffix, ".po", 3) || !strncmp(suffix, ".xl", 3);
    int rc = dg_extract_open(suffix, file, size - 1, &limits, &x, &err);
    require((rc == DG_OK) == (x != NULL) && rc == err.code);
    if (!x)
        return 0;
    write_back(x, file, size - 1, 0, filled);
    write_back(x, file, size - 1, 1, filled);
    dg_extract_close(x);
    return 0;
}
