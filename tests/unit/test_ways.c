/* Which of many bundles serves a pair, against plain walks over all pairs: dg_models_way against
 * the rule of languages.h, dg_models_ways against dg_models_way. The bundles are a real one's files
 * with other pairs in the manifest. */
#include "server/models/ways.h"

#include "base/file.h"
#include "server/models/internal.h"
#include "server/models/listing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define REAL "tests/data/en-de"

static const char *const codes[] = {"en", "en-US", "en-GB", "de", "de-AT", "ger", "pt", "pt-BR",
    "pt-PT", "zh", "zh-Hans", "zh-Hant", "zh-TW", "nds", "fr", "sr-Latn", "sr-Cyrl", "EN-us"};
enum { CODES = sizeof codes / sizeof *codes, BUNDLES = 5, SETS = 40 };

static char folder[] = "/tmp/dragoman-ways-XXXXXX";
static uint64_t seed = 7;

static size_t draw(size_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % n;
}

/* Makes a bundle with up to `most` random pairs, none twice. */
static void make_bundle(const char *dir, size_t most)
{
    static const char *const files[] = {"weights.dgw", "joint.spm", "joint.vocab"};
    char path[200], real[400], here[200];
    struct dg_buffer b;
    bool taken[CODES][CODES] = {{false}};
    struct dg_json *pairs = dg_json_new_array();
    mkdir(dir, 0755);
    assert_non_null(getcwd(here, sizeof here));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        snprintf(real, sizeof real, "%s/" REAL "/%s", here, files[i]);
        unlink(path);
        assert_int_equal(symlink(real, path), 0);
    }
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(REAL "/manifest.json", &b, NULL), DG_OK);
    struct dg_json *manifest = dg_json_parse(b.data, b.len, NULL);
    for (size_t i = 1 + draw(most); i > 0; i--) {
        const size_t s = draw(CODES), t = draw(CODES);
        struct dg_json *pair = dg_json_new_array();
        dg_json_append_take(pair, dg_json_new_string(codes[s], strlen(codes[s])));
        dg_json_append_take(pair, dg_json_new_string(codes[t], strlen(codes[t])));
        if (taken[s][t])
            dg_json_free(pair);
        else
            dg_json_append_take(pairs, pair);
        taken[s][t] = true;
    }
    dg_json_set_take(manifest, "pairs", pairs);
    dg_buffer_reset(&b);
    assert_int_equal(dg_json_write(manifest, 0, &b), 0);
    snprintf(path, sizeof path, "%s/manifest.json", dir);
    assert_int_equal(dg_file_write(path, b.data, b.len, NULL), DG_OK);
    dg_json_free(manifest);
    dg_buffer_deinit(&b);
}

/* Lists n random bundles, without opening them. */
static struct dg_models *make_models(const char *aliases, const char *pivot, size_t n)
{
    const struct dg_models_options options = {.aliases = aliases, .pivot = pivot};
    struct dg_models *m = NULL;
    struct dg_error err = {0};
    assert_int_equal(dg_models_open(&options, &m, &err), DG_OK);
    m->list = calloc(n, sizeof *m->list);
    assert_non_null(m->list);
    for (; m->n < n; m->n++) {
        char dir[100];
        snprintf(dir, sizeof dir, "%s/%zu", folder, m->n);
        make_bundle(dir, m->n == 0 ? 60 : 6);
        if (dg_listing_open(dir, &m->list[m->n], &err) != DG_OK)
            fail_msg("%s", err.message);
    }
    return m;
}

/* The nearest pair as a walk over all of them finds it: of equally near ones that of the bundle
 * with the fewest pairs, then the first. */
static const struct dg_listing *walk(
    const struct dg_models *m, const char *source, const char *target, const char *pair[2])
{
    const struct dg_listing *best = NULL;
    int nearest = 0;
    for (size_t i = 0; i < m->n; i++) {
        for (size_t p = 0; p < dg_bundle_pairs(m->list[i]->bundle); p++) {
            const char *s, *t;
            dg_bundle_pair(m->list[i]->bundle, p, &s, &t);
            const int a = dg_language_distance(source, s), b = dg_language_distance(target, t);
            if (a < 0 || b < 0 || (best && a + b > nearest) ||
                (best && a + b == nearest &&
                    dg_bundle_pairs(m->list[i]->bundle) >= dg_bundle_pairs(best->bundle)))
                continue;
            best = m->list[i];
            nearest = a + b;
            pair[0] = s;
            pair[1] = t;
        }
    }
    return best;
}

static void the_nearest_pair_is_found(void **state)
{
    (void)state;
    for (int set = 0; set < SETS; set++) {
        struct dg_models *m = make_models("", "off", 1 + draw(BUNDLES));
        for (size_t i = 0; i < CODES; i++) {
            for (size_t k = 0; k < CODES; k++) {
                struct dg_way way;
                const char *pair[2] = {NULL, NULL};
                const struct dg_listing *l = walk(m, codes[i], codes[k], pair);
                int rc = dg_models_way(m, codes[i], codes[k], false, &way, NULL);
                assert_int_equal(rc, l ? DG_OK : DG_ENOTFOUND);
                if (l) {
                    assert_ptr_equal(way.hops[0].listing, l);
                    assert_string_equal(way.hops[0].pair[0], pair[0]);
                    assert_string_equal(way.hops[0].pair[1], pair[1]);
                }
                dg_way_release(&way);
            }
        }
        dg_models_close(m);
    }
}

/* Returns how many kinds of ways there are. */
static unsigned compare(struct dg_models *m, unsigned from, unsigned to)
{
    struct dg_model_languages sources, targets;
    unsigned seen = 0;
    dg_models_languages(m, from, &sources);
    dg_models_languages(m, to, &targets);
    struct dg_ways *ways = dg_models_ways(m, &sources, &targets);
    assert_non_null(ways);
    for (size_t i = 0; i < sources.n; i++) {
        for (size_t k = 0; k < targets.n; k++) {
            struct dg_way way;
            int rc = dg_models_way(m, sources.codes[i], targets.codes[k], true, &way, NULL);
            enum dg_way_kind kind = rc != DG_OK ? DG_WAY_NONE
                                    : way.same  ? DG_WAY_SAME
                                    : way.n > 1 ? DG_WAY_PIVOT
                                                : DG_WAY_DIRECT;
            if (ways->kinds[i][k] != kind)
                fail_msg("%s to %s: %d, expected %d", sources.codes[i], targets.codes[k],
                    ways->kinds[i][k], (int)kind);
            if (kind == DG_WAY_PIVOT)
                assert_string_equal(ways->through[i], way.hops[0].pair[1]);
            seen |= 1u << kind;
            dg_way_release(&way);
        }
    }
    free(ways);
    return seen;
}

static void ways_are_those_of_each_pair(void **state)
{
    static const char *const aliases[] = {"", "nds=de", "de=nds,pt=pt-PT,en-GB=zh"};
    static const char *const pivots[] = {"en", "zh", "off", "pt-BR", "xx"};
    unsigned seen = 0;
    (void)state;
    for (int set = 0; set < SETS; set++) {
        struct dg_models *m = make_models(aliases[draw(3)], pivots[draw(5)], 1 + draw(BUNDLES));
        seen |= compare(m, DG_SOURCES | DG_TARGETS, DG_SOURCES | DG_TARGETS);
        compare(m, DG_SOURCES, DG_TARGETS);
        dg_models_close(m);
    }
    assert_int_equal(seen, 15); /* all four kinds */
}

static int prepare(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int clean(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_pair_is_found), cmocka_unit_test(ways_are_those_of_each_pair)};
    return cmocka_run_group_tests(tests, prepare, clean);
}
