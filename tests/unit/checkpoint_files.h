/* Small checkpoints in a temporary folder, for the checkpoint tests. */
#ifndef DG_TESTS_UNIT_CHECKPOINT_FILES_H
#define DG_TESTS_UNIT_CHECKPOINT_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "trainer/run/checkpoint.h"
#include "trainer/run/checkpoint_dir.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { N = 1000 };

static char folder[64];
static float values[4][N];

static inline int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_checkpoint_XXXXXX");
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < N; i++)
            values[b][i] = (float)(b * 7919 + i) / 3;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
    return rmdir(folder);
}

static inline struct dg_json *recipe(void)
{
    return dg_json_parse("{\"training\":{\"seed\":3}}", 23, NULL);
}

static inline struct dg_checkpoint_state state_at(uint64_t step, const struct dg_json *r)
{
    return (struct dg_checkpoint_state){.step = step,
        .position = {2, 7, step},
        .micro_tokens = 4096,
        .threads = 2,
        .backend = "cpu/avx2",
        .data = "0123456789abcdef0123456789abcdef",
        .epoch_tokens = 99,
        .seconds = 12.5,
        .recipe = r};
}

static inline struct dg_checkpoint_blocks blocks(bool ema)
{
    return (struct dg_checkpoint_blocks){
        N, values[0], values[1], values[2], ema ? values[3] : NULL};
}

static inline void path_of(char out[128], const char *name)
{
    snprintf(out, 128, "%s/%s", folder, name);
}

static inline int keep(
    struct dg_checkpoint_dir *k, uint64_t step, enum dg_kept_kind kind, struct dg_error *err)
{
    struct dg_json *r = recipe();
    struct dg_checkpoint_state s = state_at(step, r);
    struct dg_checkpoint_blocks b = blocks(false);
    int rc = dg_checkpoint_dir_add(k, &s, &b, kind, err);
    dg_json_free(r);
    return rc;
}

static inline int add(struct dg_checkpoint_dir *k, uint64_t step, float score, struct dg_error *err)
{
    int rc = keep(k, step, DG_KEPT_DUE, err);
    return rc || isnan(score) ? rc : dg_checkpoint_dir_score(k, step, score, err);
}

static inline bool exists(const struct dg_checkpoint_dir *k, uint64_t step)
{
    char *path = dg_checkpoint_dir_path(k, step);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

#endif
