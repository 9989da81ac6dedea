/* libFuzzer target for base/json: any bytes are refused with a message that fits into a JSON
 * answer, or parsed. Properties: output parses again and is then written with the same bytes; a
 * copy equals its original; field readers refuse or deliver whatever value a key has. */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Checks that err has a code and a message, and that both parts are valid UTF-8 (a JSON string can
 * be built from valid UTF-8 only). */
static void check_error(const struct dg_error *err)
{
    require(err->code < 0 && err->message[0]);
    const char *const parts[] = {err->field, err->message};
    for (size_t i = 0; i < 2; i++) {
        struct dg_json *v = dg_json_new_string(parts[i], strlen(parts[i]));
        require(v != NULL);
        dg_json_free(v);
    }
}

static void check_fields(const struct dg_json *o)
{
    static const char *const allowed[] = {"text", "source", NULL};
    for (const char *key = dg_json_next_key(o, NULL); key; key = dg_json_next_key(o, key)) {
        struct dg_error err[4] = {0};
        const char *s = NULL;
        int64_t i = 5;
        double x = 0.5;
        bool b;
        if (dg_json_field_string(o, "where", key, &s, &err[0]))
            check_error(&err[0]);
        else
            require(s != NULL);
        if (dg_json_field_int(o, NULL, key, 1, 100, &i, &err[1]))
            check_error(&err[1]);
        if (dg_json_field_number(o, NULL, key, -1, 1, &x, &err[2]))
            check_error(&err[2]);
        if (dg_json_field_bool(o, NULL, key, &b, &err[3]))
            check_error(&err[3]);
        require(i >= 1 && i <= 100 && x >= -1 && x <= 1);
    }
    struct dg_error err = {0};
    if (dg_json_only(o, "where", allowed, &err))
        check_error(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_error err = {0};
    struct dg_json *v = dg_json_parse((const char *)data, size, &err);
    if (!v) {
        check_error(&err);
        return 0;
    }
    require(err.code == DG_OK);
    struct dg_buffer once, twice;
    dg_buffer_init(&once);
    dg_buffer_init(&twice);
    require(dg_json_write(v, size % 5, &once) == 0);
    struct dg_json *again = dg_json_parse(once.data, once.len, &err);
    require(again != NULL);
    struct dg_json *copy = dg_json_copy(again);
    require(dg_json_write(copy, size % 5, &twice) == 0);
    require(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    check_fields(v);
    dg_json_free(copy);
    dg_json_free(again);
    dg_json_free(v);
    dg_buffer_deinit(&twice);
    dg_buffer_deinit(&once);
    return 0;
}
