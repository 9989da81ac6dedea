/* libFuzzer target for files (documents/). The first byte chooses the kind by its number in the
 * list (seeds have no larger one, so that new kinds at its end leave them as they are), the rest is
 * the file; a packed one may be given as its members, too (package.h). Property: any file is read
 * or refused with a message; its texts can be taken apart; with its own texts as answers it is
 * written byte for byte as it was, unless it holds both languages; it can be written with other
 * answers, too; and what was written can be read. */
#include "documents/extract.h"
#include "documents/kinds.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/package.h"
#include "text/format/document.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const struct dg_extract_limits limits = {1 << 20, 1 << 20, 1 << 20, 10000, 1 << 20};

static bool is_packed(const char *suffix)
{
    return !dg_kind_find(suffix)->read;
}

/* True for files that hold both languages: their empty targets are filled. */
static bool is_filled(const char *suffix)
{
    return !strcmp(suffix, ".po") || !strcmp(suffix, ".pot") || !strncmp(suffix, ".xlf", 4) ||
           !strncmp(suffix, ".xli", 4) || !strcmp(suffix, ".ts") || !strcmp(suffix, ".xcstrings");
}

struct input {
    const char *suffix;
    /* [n], malloc'd without room behind it */
    char *file;
    size_t n;
    /* an archive that was made from members, so that it is whole */
    bool made;
};

/* The file that data[size] stands for; size > 0. */
static struct input make_input(const uint8_t *data, size_t size)
{
    const size_t head = strlen(FUZZ_MEMBER);
    const char *s = (const char *)data + 1;
    size_t kinds = 0;
    while (dg_extract_suffix_at(kinds))
        kinds++;
    struct input in = {.suffix = dg_extract_suffix_at(data[0] % kinds), .n = size - 1};
    in.made = is_packed(in.suffix) && in.n >= head && !memcmp(s, FUZZ_MEMBER, head);
    in.file = in.made ? fuzz_package(s, in.n, &in.n) : malloc(in.n);
    require(in.file != NULL || in.n == 0);
    if (!in.made && in.n > 0)
        memcpy(in.file, s, in.n);
    return in;
}

/* Changes the words, but no tags, references or characters between words; if `braces` is set, no
 * text in braces either. */
static char *other_words(const struct dg_extract_text *t, bool braces)
{
    bool brace = false;
    char *s = strndup(t->s, t->n);
    require(s != NULL);
    for (size_t i = 0, tag = 0, reference = 0; i < t->n; i++) {
        tag = s[i] == '<' ? 1 : s[i] == '>' ? 0 : tag;
        reference = s[i] == '&' || (reference && (s[i] == '#' || isalnum((unsigned char)s[i])));
        brace = braces && (s[i] == '{' || (brace && s[i] != '}'));
        if (!tag && !reference && !brace && s[i] >= 'a' && s[i] <= 'y')
            s[i]++;
    }
    return s;
}

/* Reads the texts as a translation does. */
static void read_texts(const struct dg_extract *x)
{
    for (size_t i = 0; i < dg_extract_count(x); i++) {
        struct dg_extract_text t;
        struct dg_document d;
        dg_extract_text(x, i, &t);
        const struct dg_document_kind kind = {.format = t.format, .markup = t.markup};
        const int rc = dg_document_read(t.s, t.n, &kind, &d, NULL);
        require(rc == DG_OK || (rc == DG_ELIMIT && t.format == DG_FORMAT_HTML));
        if (rc == DG_OK)
            dg_document_close(&d);
    }
}

/* What was written is a file of its kind, which may be larger than the limits allow. */
static void require_readable(const char *suffix, int rc, const struct dg_buffer *file)
{
    struct dg_extract *x = NULL;
    struct dg_error err = {0};
    if (rc != DG_OK)
        return;
    rc = dg_extract_open(suffix, file->data, file->len, "de", &limits, &x, &err);
    require(rc == DG_OK || rc == DG_ELIMIT);
    dg_extract_close(x);
}

/* Answers that are written. */
enum { OWN, OTHER_WORDS, OTHER_WORDS_THAN_IN_BRACES };

static void write_back(const struct input *in, const struct dg_extract *x, int other)
{
    size_t count = dg_extract_count(x);
    struct dg_extract_answer *answers = calloc(count + 1, sizeof *answers);
    struct dg_buffer out;
    struct dg_error err = {0};
    require(answers != NULL);
    for (size_t i = 0; i < count; i++) {
        struct dg_extract_text t;
        dg_extract_text(x, i, &t);
        answers[i] = (struct dg_extract_answer){
            other ? other_words(&t, other == OTHER_WORDS_THAN_IN_BRACES) : t.s, t.n};
    }
    dg_buffer_init(&out);
    /* members of an archive that were never read may be broken, which shows only when the others
     * change; formatting may be written so often that the limit is exceeded */
    int rc = dg_extract_write(x, answers, &out, &err);
    require(rc == DG_OK || (rc == DG_ELIMIT && other) ||
            (rc == DG_EINVAL && other && is_packed(in->suffix) && !in->made));
    require(other || is_filled(in->suffix) ||
            (out.len == in->n && (in->n == 0 || memcmp(out.data, in->file, in->n) == 0)));
    require_readable(in->suffix, rc, &out);
    for (size_t i = 0; i < count && other; i++)
        free((char *)answers[i].s);
    dg_buffer_deinit(&out);
    free(answers);
}

/* Translates the file into a language with more plural forms, which are added. */
static void write_forms(const struct input *in)
{
    struct dg_extract *x = NULL;
    struct dg_error err = {0};
    if (dg_extract_open(in->suffix, in->file, in->n, "pl", &limits, &x, &err) == DG_OK)
        write_back(in, x, OTHER_WORDS);
    dg_extract_close(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_extract *x = NULL;
    struct dg_error err = {0};
    if (size < 1)
        return 0;
    struct input in = make_input(data, size);
    int rc = dg_extract_open(in.suffix, in.file, in.n, "de", &limits, &x, &err);
    require((rc == DG_OK) == (x != NULL) && rc == err.code);
    if (x) {
        read_texts(x);
        write_back(&in, x, OWN);
        write_back(&in, x, OTHER_WORDS);
        write_back(&in, x, OTHER_WORDS_THAN_IN_BRACES);
        write_forms(&in);
    }
    dg_extract_close(x);
    free(in.file);
    return 0;
}
