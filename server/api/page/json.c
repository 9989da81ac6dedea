#include "server/api/page/node.h"

#include <stdlib.h>
#include <string.h>

/* A scalar without quotes becomes a JSON word or a number if it can be read as one. */
static struct dg_json *scalar(const struct dg_node *n)
{
    char *end;
    if (n->plain && (!strcmp(n->text, "true") || !strcmp(n->text, "false")))
        return dg_json_new_bool(n->text[0] == 't');
    if (n->plain && (!strcmp(n->text, "null") || n->text[0] == '\0'))
        return dg_json_new_null();
    const long long whole = strtoll(n->text, &end, 10);
    if (n->plain && *end == '\0')
        return dg_json_new_int(whole);
    const double real = strtod(n->text, &end);
    if (n->plain && *end == '\0')
        return dg_json_new_real(real);
    return dg_json_new_string(n->text, strlen(n->text));
}

struct dg_json *dg_node_json(const struct dg_node *n)
{
    if (n->text)
        return scalar(n);
    struct dg_json *out = n->mapping ? dg_json_new_object() : dg_json_new_array();
    for (size_t i = 0; i < n->n; i++) {
        if (n->mapping)
            dg_json_set_take(out, n->keys[i]->text, dg_node_json(n->values[i]));
        else
            dg_json_append_take(out, dg_node_json(n->values[i]));
    }
    return out;
}
