#include "bench/sim/cost.h"

#include <float.h>
#include <string.h>

double dg_sim_curve_at(const struct dg_sim_curve *c, double x)
{
    if (c->n == 0)
        return 0;
    if (c->n == 1 || x <= c->x[0])
        return c->y[0];
    size_t i = 1;
    while (i + 1 < c->n && x > c->x[i])
        i++;
    double slope = (c->y[i] - c->y[i - 1]) / (c->x[i] - c->x[i - 1]);
    return c->y[i - 1] + slope * (x - c->x[i - 1]);
}

uint64_t dg_sim_cost_step_ns(const struct dg_sim_cost *c, uint64_t rows, uint64_t cells,
    uint64_t encode_tokens, uint64_t encode_pairs)
{
    double ns = 1e3 * c->outside_us;
    if (rows > 0)
        ns += 1e3 * dg_sim_curve_at(&c->step_us, (double)rows) + c->cell_ns * (double)cells;
    if (encode_tokens > 0)
        ns += 1e3 * dg_sim_curve_at(&c->encode_us, (double)encode_tokens) +
              c->pair_ns * (double)encode_pairs;
    return ns > 1 ? (uint64_t)ns : 1; /* time always goes on */
}

void dg_sim_cost_scale(struct dg_sim_cost *c, double times)
{
    for (size_t i = 0; i < c->step_us.n; i++)
        c->step_us.y[i] *= times;
    for (size_t i = 0; i < c->encode_us.n; i++)
        c->encode_us.y[i] *= times;
    c->cell_ns *= times;
    c->pair_ns *= times;
}

static int read_curve(const struct dg_json *root, const char *key, const char *at,
    const char *value, struct dg_sim_curve *out, struct dg_error *err)
{
    const struct dg_json *o = dg_json_get(root, key);
    const struct dg_json *x = dg_json_get(o, at), *y = dg_json_get(o, value);
    out->n = dg_json_length(x);
    if (dg_json_typeof(x) != DG_JSON_ARRAY || out->n == 0 || out->n > DG_SIM_POINTS ||
        dg_json_length(y) != out->n)
        return dg_error_field(err, DG_EFORMAT, key,
            "\"%s\" needs lists \"%s\" and \"%s\" of one length, 1..%d", key, at, value,
            DG_SIM_POINTS);
    for (size_t i = 0; i < out->n; i++) {
        out->x[i] = dg_json_number(dg_json_at(x, i));
        out->y[i] = dg_json_number(dg_json_at(y, i));
        if (!(out->y[i] >= 0) || (i > 0 && !(out->x[i] > out->x[i - 1])))
            return dg_error_field(err, DG_EFORMAT, key,
                "\"%s\": %s is to ascend, %s not to be negative", key, at, value);
    }
    return DG_OK;
}

int dg_sim_cost_read(const struct dg_json *o, struct dg_sim_cost *out, struct dg_error *err)
{
    memset(out, 0, sizeof *out);
    int rc = read_curve(o, "step", "rows", "us", &out->step_us, err);
    if (rc == DG_OK)
        rc = read_curve(o, "encode", "tokens", "us", &out->encode_us, err);
    if (rc == DG_OK && dg_json_get(o, "busy"))
        rc = read_curve(o, "busy", "workers", "times", &out->busy, err);
    if (rc == DG_OK)
        rc = dg_json_field_number(o, NULL, "cell_ns", 0, DBL_MAX, &out->cell_ns, err);
    if (rc == DG_OK)
        rc = dg_json_field_number(o, NULL, "pair_ns", 0, DBL_MAX, &out->pair_ns, err);
    if (rc == DG_OK)
        rc = dg_json_field_number(o, NULL, "outside_us", 0, DBL_MAX, &out->outside_us, err);
    if (rc == DG_OK)
        rc = dg_json_field_number(o, NULL, "request_us", 0, DBL_MAX, &out->request_us, err);
    return rc;
}

static int write_curve(const struct dg_sim_curve *c, struct dg_json *root, const char *key,
    const char *at, const char *value)
{
    struct dg_json *o = dg_json_new_object(), *x = dg_json_new_array(), *y = dg_json_new_array();
    int rc = 0;
    for (size_t i = 0; i < c->n; i++) {
        rc |= dg_json_append_take(x, dg_json_new_real(c->x[i]));
        rc |= dg_json_append_take(y, dg_json_new_real(c->y[i]));
    }
    rc |= dg_json_set_take(o, at, x);
    rc |= dg_json_set_take(o, value, y);
    return rc | dg_json_set_take(root, key, o);
}

int dg_sim_cost_write(const struct dg_sim_cost *c, struct dg_json *o)
{
    int rc = write_curve(&c->step_us, o, "step", "rows", "us") |
             write_curve(&c->encode_us, o, "encode", "tokens", "us");
    rc |= dg_json_set_real(o, "cell_ns", c->cell_ns) | dg_json_set_real(o, "pair_ns", c->pair_ns);
    if (c->busy.n > 0)
        rc |= write_curve(&c->busy, o, "busy", "workers", "times");
    rc |= dg_json_set_real(o, "outside_us", c->outside_us);
    return rc | dg_json_set_real(o, "request_us", c->request_us);
}
