#include "server/api/page/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define MAX_DEPTH 64

void dg_node_free(struct dg_node *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->n; i++) {
        dg_node_free(n->keys ? n->keys[i] : NULL);
        dg_node_free(n->values ? n->values[i] : NULL);
    }
    free(n->keys);
    free(n->values);
    free(n->text);
    free(n);
}

static struct dg_node *copy(yaml_document_t *y, int index, unsigned depth);

static bool copy_list(
    yaml_document_t *y, const yaml_node_t *from, unsigned depth, struct dg_node *n)
{
    size_t count = (size_t)(from->data.sequence.items.top - from->data.sequence.items.start);
    n->values = calloc(count + 1, sizeof(struct dg_node *));
    for (; n->values && n->n < count; n->n++)
        if (!(n->values[n->n] = copy(y, from->data.sequence.items.start[n->n], depth)))
            return false;
    return n->values != NULL;
}

static bool copy_mapping(
    yaml_document_t *y, const yaml_node_t *from, unsigned depth, struct dg_node *n)
{
    const yaml_node_pair_t *pairs = from->data.mapping.pairs.start;
    size_t count = (size_t)(from->data.mapping.pairs.top - pairs);
    n->mapping = true;
    n->keys = calloc(count + 1, sizeof(struct dg_node *));
    n->values = calloc(count + 1, sizeof(struct dg_node *));
    for (; n->keys && n->values && n->n < count; n->n++) {
        n->keys[n->n] = copy(y, pairs[n->n].key, depth);
        n->values[n->n] = copy(y, pairs[n->n].value, depth);
        if (!n->keys[n->n] || !n->keys[n->n]->text || !n->values[n->n]) {
            n->n++; /* to be freed */
            return false;
        }
    }
    return n->keys && n->values;
}

static struct dg_node *copy(yaml_document_t *y, int index, unsigned depth)
{
    const yaml_node_t *from = yaml_document_get_node(y, index);
    struct dg_node *n = from && depth < MAX_DEPTH ? calloc(1, sizeof *n) : NULL;
    bool good = n != NULL;
    if (good && from->type == YAML_SCALAR_NODE) {
        n->text = strdup((const char *)from->data.scalar.value);
        n->plain = from->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        good = n->text != NULL;
    } else if (good && from->type == YAML_SEQUENCE_NODE) {
        good = copy_list(y, from, depth + 1, n);
    } else if (good) {
        good = copy_mapping(y, from, depth + 1, n);
    }
    if (good)
        return n;
    dg_node_free(n);
    return NULL;
}

int dg_node_read(const char *path, struct dg_node **root, struct dg_error *err)
{
    yaml_parser_t parser;
    yaml_document_t y;
    FILE *f = fopen(path, "rb");
    *root = NULL;
    if (!f || !yaml_parser_initialize(&parser)) {
        if (f)
            fclose(f);
        return dg_error_set(err, DG_EIO, "cannot read %s", path);
    }
    yaml_parser_set_input_file(&parser, f);
    if (yaml_parser_load(&parser, &y)) {
        *root = copy(&y, 1, 0); /* the root is node 1 */
        yaml_document_delete(&y);
    }
    size_t line = parser.problem_mark.line + 1;
    yaml_parser_delete(&parser);
    fclose(f);
    if (!*root)
        return dg_error_set(err, DG_EFORMAT, "%s is no YAML document, line %zu", path, line);
    return DG_OK;
}

const struct dg_node *dg_node_get(const struct dg_node *m, const char *key)
{
    for (size_t i = 0; m && m->mapping && i < m->n; i++)
        if (strcmp(m->keys[i]->text, key) == 0)
            return m->values[i];
    return NULL;
}

const struct dg_node *dg_node_at(const struct dg_node *n, size_t i)
{
    return n && i < n->n ? n->values[i] : NULL;
}

const char *dg_node_key(const struct dg_node *m, size_t i)
{
    return m && m->mapping && i < m->n ? m->keys[i]->text : "";
}

size_t dg_node_length(const struct dg_node *n)
{
    return n ? n->n : 0;
}

const char *dg_node_text(const struct dg_node *n)
{
    return n && n->text ? n->text : "";
}

const char *dg_node_text_of(const struct dg_node *mapping, const char *key)
{
    return dg_node_text(dg_node_get(mapping, key));
}

bool dg_node_requires(const struct dg_node *schema, const char *name)
{
    const struct dg_node *list = dg_node_get(schema, "required");
    for (size_t i = 0; i < dg_node_length(list); i++)
        if (strcmp(dg_node_text(dg_node_at(list, i)), name) == 0)
            return true;
    return false;
}

const struct dg_node *dg_node_resolve(const struct dg_node *root, const struct dg_node *n)
{
    const char *ref = dg_node_text_of(n, "$ref");
    if (strncmp(ref, "#/", 2) != 0)
        return n;
    const struct dg_node *at = root;
    for (const char *p = ref + 2; *p && at;) {
        char name[128];
        size_t len = strcspn(p, "/");
        snprintf(name, sizeof name, "%.*s", (int)len, p);
        at = dg_node_get(at, name);
        p += len + (p[len] == '/');
    }
    return at;
}
