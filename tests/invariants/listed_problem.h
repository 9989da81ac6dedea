/* A random model with a shortlist of twelve translations per piece, and sentences for it. */
#ifndef DG_TESTS_LISTED_PROBLEM_H
#define DG_TESTS_LISTED_PROBLEM_H

#include "tests/invariants/random_model.h"

#include "model/model_internal.h"

#define V 1500
#define SENTENCES 40
#define MAX_SOURCE 9
#define MAX_OUT 12

struct problem {
    struct dg_config c;
    struct random_model m;
    struct dg_engine *e;
    struct dg_shortlist *list;
    struct dg_shortlist_data data;
    uint32_t always[2 * DG_MAX_BEAM + 2], first[V + 1], ids[V * 12];
    int32_t source[SENTENCES][MAX_SOURCE];
    uint32_t n_source[SENTENCES];
};

/* Makes a list of twelve translations per piece, the same on every call. */
static inline void make_list(struct problem *p)
{
    char path[] = "/tmp/dragoman-test-XXXXXX";
    struct dg_error err = {0};
    uint64_t rng = 5;
    int fd = mkstemp(path);
    close(fd);
    for (uint32_t i = 0; i < sizeof p->always / sizeof p->always[0]; i++)
        p->always[i] = 3 * i;
    for (uint32_t e = 0; e < V; e++)
        for (uint32_t k = 0; k < 12; k++)
            p->ids[(p->first[e] = 12 * e) + k] = rnd(&rng) % V;
    p->first[V] = 12 * V;
    p->data = (struct dg_shortlist_data){
        V, V, p->always, sizeof p->always / sizeof p->always[0], p->first, p->ids};
    if (dg_shortlist_write(path, &p->data, &err) || dg_shortlist_open(path, V, V, &p->list, &err))
        fail_msg("%s", err.message);
    unlink(path);
}

static inline struct problem *open_problem(enum dg_type type)
{
    struct problem *p = calloc(1, sizeof *p);
    struct dg_error err = {0};
    uint64_t rng = 11;
    dg_config_base(&p->c, V);
    p->c.D = 64;
    p->c.F = 128;
    p->c.H = 4;
    p->c.Dk = p->c.Dv = 16;
    p->c.enc_layers = p->c.dec_layers = 2;
    p->c.output_bias = true;
    random_model_open(&p->m, &p->c, type, NULL, 64, 77);
    make_list(p);
    dg_model_use_shortlist(p->m.model, p->m.weights, p->list);
    if (dg_engine_open(p->m.model, p->m.be, NULL, &p->e, &err))
        fail_msg("%s", err.message);
    for (int i = 0; i < SENTENCES; i++) {
        p->n_source[i] = 2 + rnd(&rng) % (MAX_SOURCE - 1);
        random_sentence(&p->c, p->source[i], p->n_source[i], &rng);
    }
    return p;
}

static inline void close_problem(struct problem *p)
{
    dg_engine_close(p->e);
    random_model_close(&p->m);
    dg_shortlist_close(p->list);
    free(p);
}

#endif
