/* libFuzzer target for trainer/recipe/: any text is refused with the field's name, or is a recipe
 * whose printed form reads back as the same. */
#include "tests/fuzz/fuzz.h"
#include "trainer/recipe/recipe.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_recipe *r = NULL, *again = NULL;
    struct dg_error err = {0};
    struct dg_buffer text, difference;
    int rc = dg_recipe_parse((const char *)data, size, "/nonexistent", "", &r, &err);
    require((rc == DG_OK) == (r != NULL) && rc == err.code);
    require(rc == DG_OK || err.message[0] != '\0');
    if (!r)
        return 0;
    dg_buffer_init(&text);
    dg_buffer_init(&difference);
    require(dg_recipe_print(r, &text) == DG_OK);
    rc = dg_recipe_parse(text.data, text.len, "/nonexistent", "", &again, &err);
    if (rc != DG_OK)
        fprintf(stderr, "what was printed is refused: %s\n%s\n", err.message, text.data);
    require(rc == DG_OK);
    require(dg_recipe_difference(again->json, r->json, false, &difference) == 0);
    dg_buffer_deinit(&difference);
    dg_buffer_deinit(&text);
    dg_recipe_free(again);
    dg_recipe_free(r);
    return 0;
}
