#include "convert/pickle/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A model of a thousand tensors takes some ten thousand of each. */
enum { MAX_STACK = 1 << 16, MAX_MEMO = 1 << 20, MAX_NODES = 1 << 22, MAX_TEXT = 1 << 16 };

#define REFUSE(...) dg_error_field(err, DG_EFORMAT, "pickle", __VA_ARGS__)
#define UNSUPPORTED(...) dg_error_field(err, DG_EUNSUP, "pickle", __VA_ARGS__)

struct machine {
    struct dg_input_cursor *in;
    struct dg_arena *arena;
    /* [MAX_STACK] */
    struct dg_pickle **stack;
    size_t depth;
    /* [n_memo] */
    struct dg_pickle **memo;
    size_t n_memo, nodes;
};

static struct dg_pickle *new_node(struct machine *m, enum dg_pickle_kind kind)
{
    struct dg_pickle *p = m->nodes < MAX_NODES ? dg_arena_array(m->arena, 1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    m->nodes++;
    *p = (struct dg_pickle){.kind = kind};
    return p;
}

static int push(struct machine *m, struct dg_pickle *p, struct dg_error *err)
{
    if (!p)
        return dg_error_set(err, DG_ENOMEM, "no memory for a pickle, or it has too many values");
    if (m->depth == MAX_STACK)
        return REFUSE("more than %d values on its stack", MAX_STACK);
    m->stack[m->depth++] = p;
    return 0;
}

static int push_kind(struct machine *m, enum dg_pickle_kind kind, int64_t i, struct dg_error *err)
{
    struct dg_pickle *p = new_node(m, kind);
    if (p)
        p->i = i;
    return push(m, p, err);
}

static struct dg_pickle *pop(struct machine *m)
{
    return m->depth ? m->stack[--m->depth] : NULL;
}

/* Take a little-endian number of n bytes; false at the end of the input. */
static bool take_number(struct machine *m, size_t n, uint32_t *out)
{
    const unsigned char *p = dg_input_take(m->in, n);
    *out = 0;
    for (size_t i = 0; p && i < n; i++)
        *out |= (uint32_t)p[i] << 8 * i;
    return p != NULL;
}

static int add_item(
    struct machine *m, struct dg_pickle *to, struct dg_pickle *item, struct dg_error *err)
{
    if (to->n == to->room) {
        const size_t room = to->room ? 2 * to->room : 4;
        struct dg_pickle **items = dg_arena_array(m->arena, room, sizeof *items);
        if (!items)
            return dg_error_set(err, DG_ENOMEM, "no memory for a pickle");
        if (to->n)
            memcpy(items, to->items, to->n * sizeof *items);
        to->items = items;
        to->room = room;
    }
    to->items[to->n++] = item;
    return 0;
}

/* Replace the last n values by a tuple of them. */
static int make_tuple(struct machine *m, size_t n, struct dg_error *err)
{
    struct dg_pickle *t = new_node(m, DG_PICKLE_TUPLE);
    if (n > m->depth)
        return REFUSE("a tuple of %zu values, %zu are there", n, m->depth);
    int rc = t ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for a pickle");
    for (size_t i = 0; i < n && !rc; i++)
        rc = add_item(m, t, m->stack[m->depth - n + i], err);
    m->depth -= n;
    return rc ? rc : push(m, t, err);
}

/* Count the values above the topmost mark; false: there is no mark. */
static bool above_mark(const struct machine *m, size_t *n)
{
    for (*n = 0; *n < m->depth; ++*n)
        if (m->stack[m->depth - 1 - *n]->kind == DG_PICKLE_MARK)
            return true;
    return false;
}

static int close_tuple(struct machine *m, struct dg_error *err)
{
    size_t n;
    if (!above_mark(m, &n))
        return REFUSE("TUPLE without a MARK");
    int rc = make_tuple(m, n, err);
    if (!rc) { /* remove the mark below the tuple */
        m->stack[m->depth - 2] = m->stack[m->depth - 1];
        m->depth--;
    }
    return rc;
}

/* Move the values above the mark (or the last n) into the list or dictionary below. */
static int add_items(
    struct machine *m, enum dg_pickle_kind kind, bool marked, size_t n, struct dg_error *err)
{
    if (marked && !above_mark(m, &n))
        return REFUSE("items without a MARK");
    if (m->depth < n + marked + 1 || (kind == DG_PICKLE_DICT && n % 2))
        return REFUSE("items, but nothing to put them into");
    struct dg_pickle *to = m->stack[m->depth - n - marked - 1];
    if (to->kind != kind)
        return REFUSE(
            "items for something else than a %s", kind == DG_PICKLE_DICT ? "dictionary" : "list");
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++)
        rc = add_item(m, to, m->stack[m->depth - n + i], err);
    m->depth -= n + marked;
    return rc;
}

static int push_text(struct machine *m, struct dg_error *err)
{
    uint32_t n;
    const unsigned char *p =
        take_number(m, 4, &n) && n <= MAX_TEXT ? dg_input_take(m->in, n) : NULL;
    if (!p || memchr(p, 0, n))
        return REFUSE("a text that is cut, longer than %d bytes, or holds a NUL", MAX_TEXT);
    struct dg_pickle *t = new_node(m, DG_PICKLE_TEXT);
    if (t) {
        t->text = dg_arena_strndup(m->arena, (const char *)p, n);
        t->n = n;
    }
    return push(m, t && t->text ? t : NULL, err);
}

/* Take a line without its line end into out; false when it is cut or too long. */
static bool take_line(struct machine *m, char *out, size_t cap)
{
    const unsigned char *p = m->in->at, *end = memchr(p, '\n', (size_t)(m->in->end - p));
    if (!end || (size_t)(end - p) >= cap || memchr(p, 0, (size_t)(end - p)))
        return false;
    memcpy(out, p, (size_t)(end - p));
    out[end - p] = '\0';
    m->in->at = end + 1;
    return true;
}

static int push_global(struct machine *m, struct dg_error *err)
{
    static const struct {
        const char *name;
        int64_t type;
    } types[] = {{"FloatStorage", DG_F32}, {"HalfStorage", DG_F16}, {"BFloat16Storage", DG_BF16},
        {"DoubleStorage", -1}, {"LongStorage", -1}, {"IntStorage", -1}, {"ShortStorage", -1},
        {"CharStorage", -1}, {"ByteStorage", -1}, {"BoolStorage", -1}};
    char module[64], name[64];
    if (!take_line(m, module, sizeof module) || !take_line(m, name, sizeof name))
        return REFUSE("a GLOBAL that is cut or too long");
    if (strcmp(module, "collections") == 0 && strcmp(name, "OrderedDict") == 0)
        return push_kind(m, DG_PICKLE_NEW_DICT, 0, err);
    if (strcmp(module, "torch._utils") == 0 && strcmp(name, "_rebuild_tensor_v2") == 0)
        return push_kind(m, DG_PICKLE_REBUILD, 0, err);
    for (size_t i = 0; strcmp(module, "torch") == 0 && i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(name, types[i].name) != 0)
            continue;
        int rc = push_kind(m, DG_PICKLE_TYPE, types[i].type, err);
        if (!rc)
            m->stack[m->depth - 1]->text = types[i].name;
        return rc;
    }
    return UNSUPPORTED(
        "it asks for %s.%s, which is not a tensor's; nothing of it is run", module, name);
}

static int push_long(struct machine *m, struct dg_error *err)
{
    uint32_t n;
    const unsigned char *p = take_number(m, 1, &n) ? dg_input_take(m->in, n) : NULL;
    if (!p)
        return REFUSE("a LONG1 that is cut");
    if (n > 8) {
        struct dg_pickle *t = new_node(m, DG_PICKLE_LONG);
        if (t) {
            t->text = (const char *)p;
            t->n = n;
        }
        return push(m, t, err);
    }
    uint64_t v = n && p[n - 1] & 0x80 ? ~(uint64_t)0 : 0; /* two's complement */
    for (uint32_t i = n; i-- > 0;)
        v = v << 8 | p[i];
    return push_kind(m, DG_PICKLE_INT, (int64_t)v, err);
}

static int put(struct machine *m, size_t width, struct dg_error *err)
{
    uint32_t i;
    if (!take_number(m, width, &i) || !m->depth || i >= MAX_MEMO)
        return REFUSE("a BINPUT that is cut, of nothing, or beyond %d", MAX_MEMO);
    if (i >= m->n_memo) {
        const size_t n = i + 1 > 2 * m->n_memo ? i + 1 : 2 * m->n_memo;
        struct dg_pickle **memo = realloc(m->memo, n * sizeof *memo);
        if (!memo)
            return dg_error_set(err, DG_ENOMEM, "no memory for a pickle");
        memset(memo + m->n_memo, 0, (n - m->n_memo) * sizeof *memo);
        m->memo = memo;
        m->n_memo = n;
    }
    m->memo[i] = m->stack[m->depth - 1];
    return 0;
}

static int get(struct machine *m, size_t width, struct dg_error *err)
{
    uint32_t i;
    if (!take_number(m, width, &i) || i >= m->n_memo || !m->memo[i])
        return REFUSE("a BINGET of what was not put");
    return push(m, m->memo[i], err);
}

static bool is(const struct dg_pickle *p, enum dg_pickle_kind kind)
{
    return p && p->kind == kind;
}

/* Takes ("storage", type, key, location, elements), in old files followed by None. */
static int push_storage(struct machine *m, struct dg_error *err)
{
    const struct dg_pickle *t = pop(m);
    if (!is(t, DG_PICKLE_TUPLE) || t->n < 5 || t->n > 6 || !is(t->items[0], DG_PICKLE_TEXT) ||
        strcmp(t->items[0]->text, "storage") != 0 || !is(t->items[1], DG_PICKLE_TYPE) ||
        !is(t->items[2], DG_PICKLE_TEXT) || !is(t->items[3], DG_PICKLE_TEXT) ||
        !is(t->items[4], DG_PICKLE_INT) || t->items[4]->i < 0 ||
        (t->n == 6 && !is(t->items[5], DG_PICKLE_NONE)))
        return REFUSE("a BINPERSID that is not a storage");
    struct dg_pickle *s = new_node(m, DG_PICKLE_STORAGE);
    if (!s)
        return push(m, NULL, err);
    s->text = t->items[2]->text;
    s->i = t->items[4]->i;
    int rc = add_item(m, s, t->items[1], err);
    return rc ? rc : push(m, s, err);
}

/* Takes (storage, offset, shape, strides, requires_grad, hooks). */
static int call_rebuild(struct machine *m, const struct dg_pickle *args, struct dg_error *err)
{
    if (!is(args, DG_PICKLE_TUPLE) || args->n != 6 || !is(args->items[0], DG_PICKLE_STORAGE) ||
        !is(args->items[1], DG_PICKLE_INT) || !is(args->items[2], DG_PICKLE_TUPLE) ||
        !is(args->items[3], DG_PICKLE_TUPLE) || args->items[2]->n != args->items[3]->n ||
        !is(args->items[4], DG_PICKLE_BOOL) || !is(args->items[5], DG_PICKLE_DICT))
        return REFUSE("a tensor that is not put together as torch.save does it");
    struct dg_pickle *t = new_node(m, DG_PICKLE_TENSOR);
    int rc = t ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for a pickle");
    for (size_t i = 0; i < 4 && !rc; i++)
        rc = add_item(m, t, args->items[i], err);
    for (size_t k = 2; k < 4 && !rc; k++)
        for (size_t i = 0; i < args->items[k]->n && !rc; i++)
            if (!is(args->items[k]->items[i], DG_PICKLE_INT))
                rc = REFUSE("a tensor whose sizes are not numbers");
    return rc ? rc : push(m, t, err);
}

static int reduce(struct machine *m, struct dg_error *err)
{
    const struct dg_pickle *args = pop(m), *callee = pop(m);
    if (is(callee, DG_PICKLE_REBUILD))
        return call_rebuild(m, args, err);
    if (is(callee, DG_PICKLE_NEW_DICT) && is(args, DG_PICKLE_TUPLE) && args->n == 0)
        return push_kind(m, DG_PICKLE_DICT, 0, err);
    return REFUSE("a REDUCE that calls something else than torch.save does");
}

/* Ignores a dictionary's own attributes (_metadata). */
static int build(struct machine *m, struct dg_error *err)
{
    const struct dg_pickle *attributes = pop(m);
    if (!attributes || !m->depth || !is(m->stack[m->depth - 1], DG_PICKLE_DICT))
        return REFUSE("a BUILD of something else than a dictionary");
    return 0;
}

static int push_int(struct machine *m, size_t width, struct dg_error *err)
{
    uint32_t v;
    if (!take_number(m, width, &v))
        return REFUSE("a number that is cut");
    return push_kind(m, DG_PICKLE_INT, width == 4 ? (int64_t)(int32_t)v : (int64_t)v, err);
}

static int check_protocol(struct machine *m, struct dg_error *err)
{
    uint32_t v;
    return take_number(m, 1, &v) && v == 2
               ? 0
               : UNSUPPORTED("its protocol is not 2, which torch.save writes");
}

static int step(struct machine *m, unsigned char op, struct dg_error *err)
{
    switch (op) {
    case 0x80: return check_protocol(m, err);
    case 'c': return push_global(m, err);
    case 'q': return put(m, 1, err);
    case 'r': return put(m, 4, err);
    case 'h': return get(m, 1, err);
    case 'j': return get(m, 4, err);
    case '(': return push_kind(m, DG_PICKLE_MARK, 0, err);
    case ')': return make_tuple(m, 0, err);
    case 't': return close_tuple(m, err);
    case 0x85: return make_tuple(m, 1, err);
    case 0x86: return make_tuple(m, 2, err);
    case 0x87: return make_tuple(m, 3, err);
    case 'X': return push_text(m, err);
    case 'K': return push_int(m, 1, err);
    case 'M': return push_int(m, 2, err);
    case 'J': return push_int(m, 4, err);
    case 0x8a: return push_long(m, err);
    case 0x88: return push_kind(m, DG_PICKLE_BOOL, 1, err);
    case 0x89: return push_kind(m, DG_PICKLE_BOOL, 0, err);
    case 'N': return push_kind(m, DG_PICKLE_NONE, 0, err);
    case '}': return push_kind(m, DG_PICKLE_DICT, 0, err);
    case ']': return push_kind(m, DG_PICKLE_LIST, 0, err);
    case 's': return add_items(m, DG_PICKLE_DICT, false, 2, err);
    case 'u': return add_items(m, DG_PICKLE_DICT, true, 0, err);
    case 'a': return add_items(m, DG_PICKLE_LIST, false, 1, err);
    case 'e': return add_items(m, DG_PICKLE_LIST, true, 0, err);
    case 'Q': return push_storage(m, err);
    case 'R': return reduce(m, err);
    case 'b': return build(m, err);
    }
    return UNSUPPORTED(
        "opcode 0x%02x, which no dictionary of tensors has; nothing of it is run", (unsigned)op);
}

int dg_pickle_read(struct dg_input_cursor *in, struct dg_arena *arena, struct dg_pickle **out,
    struct dg_error *err)
{
    struct machine m = {.in = in, .arena = arena, .stack = malloc(MAX_STACK * sizeof *m.stack)};
    int rc = m.stack ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for a pickle");
    while (!rc) {
        const unsigned char *op = dg_input_take(in, 1);
        if (!op) {
            rc = REFUSE("it ends without a STOP");
        } else if (*op == '.') {
            *out = pop(&m);
            if (!*out || (*out)->kind == DG_PICKLE_MARK)
                rc = REFUSE("a STOP with nothing to give back");
            break;
        } else {
            rc = step(&m, *op, err);
        }
    }
    free(m.stack);
    free(m.memo);
    return rc;
}
