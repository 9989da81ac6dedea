/* libFuzzer target for weights/shortlist.c: any bytes are refused or opened, and an opened
 * shortlist selects ascending ids of the vocabulary. The target corrects the checksum first, since
 * a mutation would never pass it. */
#include "tests/fuzz/fuzz.h"
#include "weights/shortlist.h"

#include <string.h>
#include <xxhash.h>

/* Sizes of the corpus. */
enum { SOURCE_VOCAB = 3, TARGET_VOCAB = 100, CHECKSUM_AT = 8, AFTER_CHECKSUM = 16 };

static void check_select(const struct dg_shortlist *s)
{
    static const int32_t source[] = {2, 0, 1, 0}, more[] = {99, 5};
    const struct dg_shortlist_need need = {source, 4, more, 2};
    int32_t ids[TARGET_VOCAB];
    uint64_t *bits = calloc(dg_shortlist_words(s), sizeof *bits);
    require(bits != NULL);
    for (size_t cap = 0; cap <= TARGET_VOCAB; cap += 10) {
        size_t n = dg_shortlist_select(s, &need, bits, ids, cap);
        require(n <= cap);
        for (size_t i = 0; i < n; i++)
            require(ids[i] >= (i ? ids[i - 1] + 1 : 0) && ids[i] < TARGET_VOCAB);
        for (size_t i = 0; i < dg_shortlist_words(s); i++)
            require(bits[i] == 0);
        require(cap < TARGET_VOCAB || n >= 2);
    }
    free(bits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_shortlist *s = NULL;
    struct dg_error err = {0};
    unsigned char *file = malloc(size ? size : 1);
    require(file != NULL);
    memcpy(file, data, size);
    if (size > AFTER_CHECKSUM) {
        uint64_t sum = XXH3_64bits(file + AFTER_CHECKSUM, size - AFTER_CHECKSUM);
        memcpy(file + CHECKSUM_AT, &sum, sizeof sum);
    }
    const char *path = fuzz_file("shortlist.dgl", file, size);
    int rc = dg_shortlist_open(path, SOURCE_VOCAB, TARGET_VOCAB, &s, &err);
    require((rc == DG_OK) == (s != NULL) && (rc == DG_OK || err.message[0] != '\0'));
    if (s)
        check_select(s);
    dg_shortlist_close(s);
    free(file);
    return 0;
}
