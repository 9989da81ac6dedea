/* libFuzzer target for tokenizer/: the input is a vocabulary for a sound SentencePiece model.
 * Property: it is refused with a message, or text becomes ids of the vocabulary that decode again.
 * The model itself is not fuzzed: SentencePiece 0.1.97 reads beyond a damaged table of its
 * normaliser. */
#include "tests/fuzz/fuzz.h"
#include "tokenizer/tokenizer.h"

#include <string.h>

#define SOUND "tests/data/tokenizer/joint.model"

static void check_text(const struct dg_tokenizer *t, const char *text)
{
    struct dg_token *tokens = NULL, *spans = NULL;
    struct dg_error err = {0};
    size_t n = 0, len = 0;
    char *back = NULL;
    if (dg_tokenizer_encode(t, text, strlen(text), &tokens, &n, &err) != DG_OK) {
        require(err.message[0] != '\0');
        return;
    }
    int32_t *ids = malloc((n ? n : 1) * sizeof *ids);
    spans = malloc((n ? n : 1) * sizeof *spans);
    require(ids && spans);
    for (size_t i = 0; i < n; i++) {
        require(tokens[i].id >= 0 && (uint32_t)tokens[i].id < dg_tokenizer_size(t));
        require(tokens[i].begin <= tokens[i].end && tokens[i].end <= strlen(text));
        ids[i] = tokens[i].id;
    }
    if (dg_tokenizer_decode(t, ids, n, &back, &len, spans, &err) == DG_OK)
        for (size_t i = 0; i < n; i++)
            require(spans[i].begin <= spans[i].end && spans[i].end <= len);
    free(back);
    free(spans);
    free(ids);
    free(tokens);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const texts[] = {"", " ", "The dog sleeps.", "a\u00df\u4e2d\U0001F600 1,5",
        "\ufb01\ufdfa  \u2581x</s><unk>"};
    struct dg_tokenizer *t = NULL;
    struct dg_error err = {0};
    const char *vocab = fuzz_file("fuzz.vocab", data, size);
    int rc = dg_tokenizer_open(SOUND, vocab, &t, &err);
    require((rc == DG_OK) == (t != NULL) && (rc == DG_OK || err.message[0] != '\0'));
    for (size_t i = 0; t && i < sizeof texts / sizeof *texts; i++)
        check_text(t, texts[i]);
    dg_tokenizer_close(t);
    return 0;
}
