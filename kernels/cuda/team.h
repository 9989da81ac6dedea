/* The team's entries of the training table (team.c). Only kernels/cuda includes this. Threads: as
 * kernels/team.h says. */
#ifndef DG_KERNELS_CUDA_TEAM_H
#define DG_KERNELS_CUDA_TEAM_H

#include "kernels/team.h"

extern const struct dg_team_ops dg_cuda_team_ops;

#endif
