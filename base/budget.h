/* A memory limit shared by several users, who reserve bytes before they use them. Any thread. */
#ifndef DG_BASE_BUDGET_H
#define DG_BASE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct dg_budget {
    size_t most;
    atomic_size_t taken;
};

/* Reserve bytes. False: fewer are left, and nothing was taken. */
bool dg_budget_take(struct dg_budget *b, size_t bytes);
/* Count bytes that are already in use, without a check. */
void dg_budget_add(struct dg_budget *b, size_t bytes);
void dg_budget_give(struct dg_budget *b, size_t bytes);
/* True if more than half is taken: a user that is not urgent then leaves the rest to the others. */
bool dg_budget_above_half(const struct dg_budget *b);

#endif
