/* One table, every source: text, JSON, environment, command line; and its messages. Expected values
 * are written out here, not taken from the table. */
#include "base/options.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum colour { RED = 3, GREEN, BLUE };

struct things {
    bool loud;
    int action;
    uint32_t small;
    int32_t start;
    int64_t large;
    float ratio;
    double exact;
    int64_t wait_ms;
    enum colour colour;
    const char *path;
    char name[8];
    struct dg_field_list item;
    int custom;
};

static int take_custom(const char *name, const char *text, void *out, struct dg_error *err)
{
    struct things *t = out;
    t->custom = (int)strlen(text);
    return text[0] == 'x' ? DG_OK : dg_error_field(err, DG_EINVAL, name, "%s: no x", name);
}

/* Reads [a, b]: a colour with its number. */
static int read_pair(const char *name, const struct dg_json *v, void *out, struct dg_error *err)
{
    struct things *t = out;
    t->action = (int)dg_json_int(dg_json_at(v, 1));
    return dg_json_length(v) == 2 ? DG_OK
                                  : dg_error_field(err, DG_EINVAL, name, "%s: no pair", name);
}

static const char *const colours[] = {"red", "green", "blue", NULL};
static const char *const zero[] = {"zero", NULL};

#define AT(member) DG_FIELD_AT(struct things, member)

static const struct dg_field rows[] = {
    {"loud", DG_FIELD_BOOL, AT(loud), .help = "say it loudly"},
    {"show_it", DG_FIELD_MARK, AT(action), 7, 7, .help = "show it"},
    {"small", DG_FIELD_INT, AT(small), 1, 4000000000.0, .fallback = "5", .help = "a small one"},
    {"start", DG_FIELD_INT, AT(start), -1, 100, .words = zero, .fallback = "zero", .help = "where"},
    {"large", DG_FIELD_INT, AT(large), 0, 0x1p63, .fallback = "0", .help = "a large one"},
    {"ratio", DG_FIELD_REAL, AT(ratio), 0, 0.1, .fallback = "0.1", .help = "a ratio",
        .old = "share"},
    {"exact", DG_FIELD_REAL, AT(exact), -1, INFINITY, .fallback = "1e-20", .help = "exactly"},
    {"max_wait", DG_FIELD_SECONDS, AT(wait_ms), 0.001, 86400, .fallback = "2",
        .argument = "SECONDS", .help = "wait so long"},
    {"colour", DG_FIELD_WORD, AT(colour), RED, BLUE, .words = colours, .fallback = "green",
        .argument = "NAME", .help = "of the roof"},
    {"path", DG_FIELD_STRING, AT(path), .argument = "FILE", .help = "what to read"},
    {"name", DG_FIELD_TEXT, AT(name), .fallback = "none", .argument = "NAME", .help = "what to say",
        .flags = DG_FIELD_UNWRITTEN},
    {"item", DG_FIELD_LIST, AT(item), 0, 2, .argument = "X", .help = "one of two"},
    {"custom", DG_FIELD_CUSTOM, AT(custom), .take = take_custom, .argument = "X",
        .help = "begins with x"},
    {"nested", DG_FIELD_OTHER, .help = "elsewhere"},
    {"pair", DG_FIELD_OTHER, .read = read_pair, .help = "two"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static struct dg_fields table(struct things *t, unsigned char *given)
{
    memset(t, 0, sizeof *t);
    const struct dg_fields fields = {rows, ROWS, t, given, NULL};
    dg_fields_default(&fields);
    return fields;
}

static void defaults(void **state)
{
    struct things t;
    (void)state;
    table(&t, NULL);
    assert_int_equal(t.small, 5);
    assert_int_equal(t.start, -1);
    assert_true(t.ratio == 0.1f);
    assert_true(t.exact == 1e-20);
    assert_int_equal(t.wait_ms, 2000);
    assert_int_equal(t.colour, GREEN);
    assert_string_equal(t.name, "none");
    assert_null(t.path);
}

/* Text that is accepted, or the message that refuses it. */
static void text(void **state)
{
    static const struct {
        const char *field, *text, *message;
    } cases[] = {
        {"small", "4000000000", NULL},
        {"small", "0", "--small is \"0\", must be a whole number from 1 to 4000000000"},
        {"small", " 7", "--small is \" 7\", must be a whole number from 1 to 4000000000"},
        {"small", "7x", "--small is \"7x\", must be a whole number from 1 to 4000000000"},
        {"small", "", "--small is \"\", must be a whole number from 1 to 4000000000"},
        {"start", "zero", NULL},
        {"start", "100", NULL},
        {"start", "one", "--start is \"one\", must be a whole number from -1 to 100"},
        {"large", "9223372036854775807", NULL},
        {"large", "9223372036854775808",
            "--large is \"9223372036854775808\", must be a whole number from 0"},
        {"ratio", "0.1", NULL},
        {"ratio", ".05", NULL},
        {"ratio", "0.11", "--ratio is \"0.11\", must be a number from 0 to 0.1"},
        {"ratio", "nan", "--ratio is \"nan\", must be a number from 0 to 0.1"},
        {"exact", "1e300", NULL},
        {"exact", "-2", "--exact is \"-2\", must be a number from -1"},
        {"max_wait", "0.001", NULL},
        {"max_wait", "1e3", NULL},
        {"max_wait", "0", "--max-wait is \"0\", must be seconds from 0.001 to 86400"},
        {"max_wait", "86401", "--max-wait is \"86401\", must be seconds from 0.001 to 86400"},
        {"colour", "blue", NULL},
        {"colour", "pink", "--colour is \"pink\", must be one of red, green, blue"},
        {"name", "1234567", NULL},
        {"name", "12345678", "--name is longer than 7 bytes"},
        {"custom", "xyz", NULL},
        {"custom", "y", "--custom: no x"},
        {"loud", "true", NULL},
        {"loud", "yes", "--loud is \"yes\", must be true or false"},
    };
    struct things t;
    struct dg_fields fields = table(&t, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t row = dg_fields_find(&fields, cases[i].field);
        struct dg_error err = {0};
        char name[64];
        dg_field_option(&rows[row], name);
        int rc = dg_field_set(&rows[row], name, cases[i].text, &t, &err);
        assert_int_equal(rc, cases[i].message ? DG_EINVAL : DG_OK);
        assert_string_equal(err.message, cases[i].message ? cases[i].message : "");
        assert_string_equal(err.field, cases[i].message ? name : "");
    }
    assert_int_equal(t.small, 4000000000u);
    assert_int_equal(t.start, 100);
    assert_true(t.large == INT64_MAX);
    assert_int_equal(t.wait_ms, 1000000);
    assert_int_equal(t.colour, BLUE);
    assert_string_equal(t.name, "1234567");
    assert_int_equal(t.custom, 1);
    assert_true(t.loud);
}

static void json(void **state)
{
    static const struct {
        const char *text, *field, *message;
    } cases[] = {
        {"{\"small\":7,\"start\":3,\"ratio\":0,\"max_wait\":0.25,\"colour\":\"red\",\"path\":\"a\"}",
            "", ""},
        {"{\"start\":\"zero\",\"nested\":{},\"share\":0.05,\"small\":4.0}", "", ""},
        {"{\"custom\":\"xyz\",\"pair\":[1,8]}", "", ""},
        {"{\"custom\":\"y\"}", "at.custom", "at.custom: no x"},
        {"{\"custom\":1}", "at.custom", "at.custom must be a string, not an integer"},
        {"{\"pair\":[1]}", "at.pair", "at.pair: no pair"},
        {"{}", "", ""},
        {"[]", "at", "at must be an object, not an array"},
        {"{\"smal\":1}", "at.smal", "unknown field at.smal"},
        {"{\"show_it\":1}", "at.show_it", "unknown field at.show_it"},
        {"{\"small\":0}", "at.small", "at.small is 0, must be from 1 to 4000000000"},
        {"{\"small\":\"1\"}", "at.small", "at.small must be an integer, not a string"},
        {"{\"loud\":1}", "at.loud", "at.loud must be true or false, not an integer"},
        {"{\"exact\":-3}", "at.exact", "at.exact is -3, must be at least -1"},
        {"{\"start\":\"one\"}", "at.start",
            "at.start is \"one\", must be a whole number from -1 to 100"},
        {"{\"colour\":\"pink\"}", "at.colour",
            "at.colour is \"pink\", must be one of red, green, blue"},
        {"{\"ratio\":0,\"share\":0}", "at.ratio",
            "at.ratio and share are the same field: give one"},
    };
    struct things t;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dg_fields fields = table(&t, NULL);
        struct dg_error err = {0};
        struct dg_json *v = dg_json_parse(cases[i].text, strlen(cases[i].text), NULL);
        int rc = dg_fields_from_json(&fields, "at", v, DG_FROM_FILE, &err);
        assert_int_equal(rc, cases[i].message[0] ? DG_EINVAL : DG_OK);
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(err.field, cases[i].field);
        if (i == 0) {
            assert_int_equal(t.small, 7);
            assert_int_equal(t.wait_ms, 250);
            assert_int_equal(t.colour, RED);
            assert_string_equal(t.path, "a");
        } else if (i == 1) {
            assert_true(t.ratio == 0.05f);
            assert_int_equal(t.small, 4);
        } else if (i == 2) {
            assert_int_equal(t.custom, 3);
            assert_int_equal(t.action, 8);
        }
        dg_json_free(v);
    }
}

static void a_required_field(void **state)
{
    static const struct dg_field needed[] = {
        {"path", DG_FIELD_STRING, AT(path), .flags = DG_FIELD_REQUIRED}};
    struct things t = {0};
    const struct dg_fields fields = {needed, 1, &t, NULL, NULL};
    struct dg_error err = {0};
    (void)state;
    assert_int_equal(dg_fields_from_json(&fields, NULL, NULL, DG_FROM_FILE, &err), DG_EINVAL);
    assert_string_equal(err.message, "path is missing");
}

static void written(void **state)
{
    struct things t;
    struct dg_fields fields = table(&t, NULL);
    struct dg_json *o = dg_json_new_object();
    struct dg_buffer b;
    (void)state;
    t.path = "p";
    dg_buffer_init(&b);
    assert_int_equal(dg_fields_to_json(&fields, o), 0);
    assert_int_equal(dg_json_write(o, 0, &b), 0);
    assert_string_equal(b.data,
        "{\"loud\":false,\"small\":5,\"start\":\"zero\",\"large\":0,\"ratio\":0.1,"
        "\"exact\":1e-20,\"max_wait\":2.0,\"colour\":\"green\",\"path\":\"p\"}");
    dg_buffer_deinit(&b);
    dg_json_free(o);
}

static char *lookup(const char *name)
{
    static char wait[] = "3", empty[] = "";
    return strcmp(name, "DRAGOMAN_MAX_WAIT") == 0 ? wait : empty;
}

static void options(void **state)
{
    struct things t;
    unsigned char given[ROWS];
    struct dg_fields fields = table(&t, given);
    char program[] = "p", a[] = "--small=9", b[] = "file", c[] = "--loud", d[] = "--item",
         e[] = "one", f[] = "--item", g[] = "two", h[] = "--", i[] = "--small", j[] = "--show-it";
    char *argv[] = {program, a, b, c, d, e, f, g, j, h, i};
    struct dg_error err = {0};
    int n = 0;
    (void)state;
    assert_int_equal(dg_fields_from_environment(&fields, lookup, &err), 0);
    assert_int_equal(dg_options_read(&fields, 1, sizeof argv / sizeof argv[0], argv, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_string_equal(argv[1], "file");
    assert_string_equal(argv[2], "--small");
    assert_int_equal(t.small, 9);
    assert_int_equal(t.action, 7);
    assert_int_equal(t.wait_ms, 3000);
    assert_int_equal(t.item.n, 2);
    assert_string_equal(t.item.items[1], "two");
    assert_int_equal(given[dg_fields_find(&fields, "small")], DG_FROM_OPTION);
    assert_int_equal(given[dg_fields_find(&fields, "max_wait")], DG_FROM_ENVIRONMENT);
    assert_int_equal(given[dg_fields_find(&fields, "ratio")], DG_FROM_DEFAULT);
}

static void refused_options(void **state)
{
    static const struct {
        const char *a, *b, *message;
    } cases[] = {
        {"--sma", "1", "there is no option --sma: options are written in full (--small)"},
        {"--nothing", NULL, "there is no option --nothing"},
        {"--max_wait", "1", "there is no option --max_wait"},
        {"--nested", "1", "there is no option --nested"},
        {"-x", NULL, "there is no option -x"},
        {"--small", NULL, "--small needs a value"},
        {"--loud=true", NULL, "--loud takes no value"},
        {"--share", "0.2", "--ratio is \"0.2\", must be a number from 0 to 0.1"},
        {"word", NULL, "unexpected \"word\""},
    };
    struct things t;
    struct dg_fields fields = table(&t, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char program[] = "p", a[32], b[32];
        char *argv[] = {program, a, b};
        struct dg_error err = {0};
        snprintf(a, sizeof a, "%s", cases[i].a);
        snprintf(b, sizeof b, "%s", cases[i].b ? cases[i].b : "");
        assert_int_equal(
            dg_options_read(&fields, 1, cases[i].b ? 3 : 2, argv, NULL, &err), DG_EINVAL);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void help(void **state)
{
    struct things t;
    struct dg_fields fields = table(&t, NULL);
    struct dg_buffer b;
    (void)state;
    dg_buffer_init(&b);
    dg_options_help("usage: p\n", &fields, 1, "More.\n", &b);
    assert_string_equal(b.data, "usage: p\n"
                                "\n"
                                "  --loud              say it loudly\n"
                                "  --show-it           show it\n"
                                "  --small N           a small one [5; 1 to 4000000000]\n"
                                "  --start N           where: zero [zero; -1 to 100]\n"
                                "  --large N           a large one [0]\n"
                                "  --ratio N           a ratio [0.1; 0 to 0.1]\n"
                                "  --exact N           exactly [1e-20]\n"
                                "  --max-wait SECONDS  wait so long [2; 0.001 to 86400]\n"
                                "  --colour NAME       of the roof: red, green, blue [green]\n"
                                "  --path FILE         what to read\n"
                                "  --name NAME         what to say [none]\n"
                                "  --item X            one of two\n"
                                "  --custom X          begins with x\n"
                                "\n"
                                "More.\n");
    dg_buffer_deinit(&b);
}

static void unknown_variables(void **state)
{
    static const char *const others[] = {"DRAGOMAN_ISA", NULL};
    char a[] = "DRAGOMAN_SMALL=1", b[] = "DRAGOMAN_SMALLER=1", c[] = "DRAGOMAN_ISA=x",
         d[] = "PATH=/", e[] = "DRAGOMAN_SMA=";
    char *environment[] = {a, b, c, d, e, NULL};
    struct things t;
    struct dg_fields fields = table(&t, NULL);
    struct dg_buffer out;
    (void)state;
    dg_buffer_init(&out);
    dg_options_unknown_variables(&fields, 1, others, environment, &out);
    assert_string_equal(out.data, "DRAGOMAN_SMALLER, DRAGOMAN_SMA");
    dg_buffer_deinit(&out);
}

static void checked(void **state)
{
    struct things t;
    struct dg_fields fields = table(&t, NULL);
    struct dg_error err = {0};
    (void)state;
    assert_int_equal(dg_fields_check(&fields, "at", &err), 0); /* 0.1f counts as 0.1 */
    t.start = 101;
    assert_int_equal(dg_fields_check(&fields, "at", &err), DG_EINVAL);
    assert_string_equal(err.message, "at.start is 101, must be from -1 to 100");
}

static void described(void **state)
{
    struct things t;
    struct dg_fields fields = table(&t, NULL);
    struct dg_json *list = dg_json_new_array();
    struct dg_buffer b;
    (void)state;
    dg_buffer_init(&b);
    dg_fields_describe(&fields, "at", list);
    assert_int_equal(dg_json_length(list), ROWS);
    assert_int_equal(dg_json_write(dg_json_at(list, 8), 0, &b), 0);
    assert_string_equal(b.data,
        "{\"name\":\"at.colour\",\"type\":\"string\",\"enum\":[\"red\",\"green\",\"blue\"],"
        "\"default\":\"green\",\"help\":\"of the roof\"}");
    dg_buffer_reset(&b);
    assert_int_equal(dg_json_write(dg_json_at(list, 5), 0, &b), 0);
    assert_string_equal(b.data,
        "{\"name\":\"at.ratio\",\"type\":\"number\",\"minimum\":0.0,\"maximum\":0.1,"
        "\"default\":\"0.1\",\"help\":\"a ratio\"}");
    dg_buffer_deinit(&b);
    dg_json_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(defaults), cmocka_unit_test(text),
        cmocka_unit_test(json), cmocka_unit_test(a_required_field), cmocka_unit_test(written),
        cmocka_unit_test(options), cmocka_unit_test(refused_options), cmocka_unit_test(help),
        cmocka_unit_test(unknown_variables), cmocka_unit_test(checked),
        cmocka_unit_test(described)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
