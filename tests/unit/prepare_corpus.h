/* A small corpus with known faults in a temporary folder, for the tests of prepare. */
#ifndef DG_TESTS_PREPARE_CORPUS_H
#define DG_TESTS_PREPARE_CORPUS_H

#include "base/file.h"
#include "trainer/prepare/prepare.h"
#include "trainer/data/prepared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/test_prepare_XXXXXX";

static inline int make(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int clear(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static inline const char *in_folder(const char *name)
{
    static char path[4][128];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static inline void write_text(const char *name, const struct dg_buffer *b)
{
    assert_int_equal(dg_file_write(in_folder(name), b->data, b->len, NULL), 0);
}

/* Adds sentence i in two made-up languages with enough words for a vocabulary. */
static inline void add_pair(struct dg_buffer *s, struct dg_buffer *t, unsigned i)
{
    static const char *const a[] = {
        "house", "green", "river", "under", "walking", "seldom", "bridge", "paper"};
    static const char *const b[] = {
        "Haus", "grünes", "Fluss", "unter", "gehend", "selten", "Brücke", "Papier"};
    for (unsigned k = 0, x = i * 2654435761u; k < 4 + i % 5; k++, x = x * 1664525u + 1013904223u) {
        dg_buffer_addf(s, "%s%s", k ? " " : "", a[x >> 29]);
        dg_buffer_addf(t, "%s%s", k ? " " : "", b[x >> 29]);
    }
    dg_buffer_addf(s, " %u .\n", i);
    dg_buffer_addf(t, " %u .\n", i);
}

/* Writes 1,000 good pairs with faults among them, which test_counts counts. */
static inline void write_corpus(void)
{
    struct dg_buffer s, t, d, ds, dt;
    struct dg_buffer *all[] = {&s, &t, &d, &ds, &dt};
    for (size_t i = 0; i < 5; i++)
        dg_buffer_init(all[i]);
    for (unsigned i = 0; i < 1000; i++) {
        add_pair(&s, &t, i);
        dg_buffer_adds(&d, i % 2 ? "odd\n" : "even\n");
    }
    for (unsigned i = 0; i < 30; i++) /* duplicates */
        add_pair(&s, &t, i * 7);
    dg_buffer_adds(
        &s, "bad \xff\nsame same\n\nheld out source\nYes.\ncontrol \x01\n123\nzero weight\n");
    dg_buffer_adds(&t, "gut\nsame same\nleer\netwas\nJa, und zwar aus diesem ganz und gar guten "
                       "Grund hier.\nx\n321\nnull\n");
    for (unsigned i = 0; i < 37; i++)
        dg_buffer_adds(&d, "even\n");
    dg_buffer_adds(&d, "never\n");
    for (unsigned i = 2000; i < 2010; i++)
        add_pair(&ds, &dt, i);
    dg_buffer_adds(&ds, "held  out source\n\ncontrol \xc2\x96 character\n");
    dg_buffer_adds(&dt, "und ihr Ziel\r\n\nSteuerzeichen\x01\n");
    write_text("train.en", &s);
    write_text("train.de", &t);
    write_text("train.domain", &d);
    write_text("dev.en", &ds);
    write_text("dev.de", &dt);
    for (size_t i = 0; i < 5; i++)
        dg_buffer_deinit(all[i]);
}

static inline struct dg_recipe *recipe(const char *more)
{
    char text[1024];
    struct dg_recipe *r;
    struct dg_error err = {0};
    snprintf(text, sizeof text,
        "{\"preset\":\"small\",\"vocabulary\":{\"size\":400},\"cleaning\":{\"language_check\":"
        "false},\"data\":{"
        "\"domain_weights\":{\"even\":2,\"never\":0},\"pairs\":[{\"source_lang\":\"en\",\"target_"
        "lang\":\"de\","
        "\"train\":[{\"source\":\"train.en\",\"target\":\"train.de\",\"domains\":\"train.domain\"}]"
        ","
        "\"dev\":[{\"source\":\"dev.en\",\"target\":\"dev.de\"}]%s}]}}",
        more);
    if (dg_recipe_parse(text, strlen(text), "", folder, &r, &err))
        fail_msg("%s", err.message);
    return r;
}

static inline int prepare(
    const struct dg_recipe *r, const char *dir, int threads, bool *made, struct dg_error *err)
{
    struct dg_prepare_options o = {.dir = dir, .threads = threads, .quiet = true};
    return dg_prepare(r, &o, made, err);
}

static inline int64_t dropped(const struct dg_prepared *p, const char *why)
{
    const struct dg_json *total =
        dg_json_get(dg_json_get(dg_prepared_manifest(p), "counts"), "total");
    const struct dg_json *n = dg_json_get(total, why);
    if (!n)
        n = dg_json_get(dg_json_get(total, "dropped"), why);
    assert_non_null(n);
    return dg_json_int(n);
}

#endif
