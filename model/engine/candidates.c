#include "model/engine/candidates.h"

#include "model/model_internal.h"

/* Cost of a product with n outputs, in units of one row and one output. Reading an output's weights
 * takes as long as multiplying READ rows by them; copying a sentence's own rows out of the matrix
 * takes, for each of its steps, as long as CUT rows. READ: base model, int8, one Zen 5 core, 0.032
 * ns per byte read, 0.0012 ns per product. CUT: 26 would be 1 ns per byte in a sentence of 27
 * steps, as measured for 2,600 rows of 512; rows of a few hundred kB go into memory that is already
 * allocated and cost less. Of 6, 12 and 26, 12 was the best or as good as any with the shapes of
 * Firefox, Argos, OPUS-MT and NLLB, whole batches. */
enum { READ = 26, CUT = 12 };

static double cost(double n, double rows)
{
    return n * (READ + rows);
}

/* Rows of a step that share the one product with the whole matrix: from the first to the last one
 * of the sentences without a matrix of their own. Each sentence outside has a product of its own.
 */
struct span {
    uint32_t first, end;
};

static bool is_in(struct span whole, uint32_t row)
{
    return row >= whole.first && row < whole.end;
}

static bool has_own(const struct dg_live *s)
{
    return s->output && s->output->w;
}

/* Make the span reach over the rows of s, from `row` on, if they need the whole matrix. */
static void reach(struct span *whole, const struct dg_live *s, uint32_t row, uint32_t rows)
{
    if (has_own(s))
        return;
    if (whole->end == 0)
        whole->first = row;
    whole->end = row + rows;
}

/* One pass over the matrix serves all rows of the span, also those of sentences with a matrix of
 * their own. */
static double cost_of_span(struct span whole, double V)
{
    const uint32_t rows = whole.end - whole.first;
    return rows ? cost(V, rows) : 0;
}

/* Equal sentences, whose matrices cost less than the whole product of all rows, keep within this
 * bound by themselves; others may be longer than the ones that they were compared with. */
size_t dg_candidates_most_own_rows(const struct dg_engine *e)
{
    const uint32_t R = e->max_rows, S = e->limits.max_sentences;
    const double bound = cost(e->model->config.target_vocab, R) / cost(1, CUT + 1),
                 longest = (double)(S < R ? S : R) * e->max_shortlist;
    return (size_t)(longest < bound ? longest : bound);
}

bool dg_candidates_pay_own_rows(const struct dg_engine *e, uint32_t n, uint32_t rows)
{
    const double V = e->model->config.target_vocab, all = (double)e->rows_reserved + rows;
    const struct dg_live *const lists[] = {e->live, e->pending};
    struct span whole = {0};
    uint32_t row = 0;
    double sentences = 1, ids = n;
    for (int i = 0; i < 2; i++) {
        for (const struct dg_live *s = lists[i]; s; s = s->next) {
            sentences += has_own(s);
            ids += has_own(s) ? s->output->n : 0;
            reach(&whole, s, row, s->beam.search.beam);
            row += s->beam.search.beam;
        }
    }
    if (ids > (double)dg_candidates_most_own_rows(e))
        return false;
    return sentences * cost(n, CUT + (double)rows) + cost_of_span(whole, V) < cost(V, all);
}

/* The rows that use the whole matrix in this step: those that have to and all between them, or all
 * rows if that is cheaper. */
static struct span choose(const struct dg_engine *e)
{
    const double V = e->model->config.target_vocab;
    struct span whole = {0};
    uint32_t M = 0, row = 0;
    for (const struct dg_live *s = e->live; s; s = s->next)
        if (!s->paused) {
            reach(&whole, s, M, s->beam.n_live);
            M += s->beam.n_live;
        }
    double price = cost_of_span(whole, V);
    for (const struct dg_live *s = e->live; s; s = s->next)
        if (!s->paused) {
            price += is_in(whole, row) ? 0 : cost(s->output->n, s->beam.n_live);
            row += s->beam.n_live;
        }
    return price < cost(V, M) ? whole : (struct span){0, M};
}

/* The topk op's arguments for rows with n logits each, from row `first` on. */
static struct dg_topk topk(const struct dg_engine *e, uint32_t first, size_t n)
{
    const size_t at = (size_t)first * e->k_max;
    return (struct dg_topk){.V = n,
        .k_max = e->k_max,
        .k = e->want + first,
        .force = e->force + first,
        .logprob = e->top_logprob + at,
        .ids = e->top_ids + at};
}

/* Compute the logits of rows first .. end-1 for the whole vocabulary; each row gets the same bits
 * as alone. */
static void multiply_all(struct dg_engine *e, struct dg_rows y, uint32_t first, uint32_t end)
{
    const struct dg_model *m = e->model;
    const struct dg_pass p = {.be = e->be, .config = &m->config, .M = end - first};
    if (first < end)
        dg_output_forward(&p, &m->params, dg_rows_from(y, first), dg_rows_from(e->logits, first));
}

/* Find the candidates of rows first .. end-1, whose sentences have no list. */
static void take_of_all(struct dg_engine *e, uint32_t first, uint32_t end)
{
    const struct dg_topk top = topk(e, first, e->model->config.target_vocab);
    if (first < end)
        e->be->ops->topk(e->be, &top, dg_rows_from(e->logits, first), end - first);
}

/* Find the candidates of a sentence with a list; own: its rows hold the logits of the list
 * alone. */
static void take_of_list(struct dg_engine *e, const struct dg_live *s, uint32_t first, bool own)
{
    const struct dg_output_rows *o = s->output;
    const uint32_t M = s->beam.n_live;
    struct dg_topk top = topk(e, first, o->n);
    top.only = own ? NULL : o->ids;
    for (uint32_t r = 0; r < M; r++) /* the shortlist includes the prefix */
        if (e->force[first + r] >= 0)
            e->force[first + r] = dg_output_rows_find(o, e->force[first + r]);
    e->be->ops->topk(e->be, &top, dg_rows_from(e->logits, first), M);
    for (uint32_t r = 0; r < M; r++)
        for (uint32_t i = 0; i < e->want[first + r]; i++)
            if (top.ids[r * e->k_max + i] >= 0) /* -1: no candidate is left */
                top.ids[r * e->k_max + i] = o->ids[top.ids[r * e->k_max + i]];
}

static void multiply_own(
    struct dg_engine *e, const struct dg_live *s, struct dg_rows y, uint32_t first)
{
    const struct dg_linear op = {.w = s->output->w, .bias = s->output->bias};
    e->be->ops->linear(
        e->be, &op, dg_rows_from(y, first), dg_rows_from(e->logits, first), s->beam.n_live);
}

void dg_candidates_find(struct dg_engine *e, struct dg_rows y)
{
    const struct span whole = choose(e);
    uint32_t first = 0, M = 0;
    multiply_all(e, y, whole.first, whole.end);
    for (const struct dg_live *s = e->live; s; s = s->next) {
        if (s->paused) /* it has no row in this step */
            continue;
        if (s->output) {
            const bool own = !is_in(whole, M);
            if (own)
                multiply_own(e, s, y, M);
            take_of_all(e, first, M);
            take_of_list(e, s, M, own);
            first = M + s->beam.n_live;
        }
        M += s->beam.n_live;
    }
    take_of_all(e, first, M);
}
