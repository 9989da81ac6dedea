/* libFuzzer target for convert/yaml.c: any bytes are refused with a message, or open as entries
 * that can be found by their keys. */
#include "convert/yaml.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_yaml *y = NULL;
    struct dg_error err = {0};
    int rc = dg_yaml_parse((const char *)data, size, "fuzz", &y, &err);
    require((rc == DG_OK) == (y != NULL) && rc == err.code);
    require(rc == DG_OK || strncmp(err.message, "fuzz", 4) == 0 || rc == DG_ENOMEM);
    size_t bytes = 0;
    for (size_t i = 0; y && i < dg_yaml_count(y); i++) {
        const struct dg_yaml_entry *e = dg_yaml_at(y, i);
        const struct dg_yaml_entry *first = dg_yaml_find(y, e->key);
        require(first && first <= e && strcmp(first->key, e->key) == 0);
        require(e->is_list || e->n_items == 1);
        for (size_t k = 0; k < e->n_items; k++)
            bytes += strlen(e->items[k]);
    }
    /* an escape of two bytes may become three; nothing grows beyond that */
    require(bytes <= 3 * size);
    dg_yaml_free(y);
    return 0;
}
