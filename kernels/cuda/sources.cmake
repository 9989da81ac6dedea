# The plugin's files, for the plugin itself and for tests/emu, which builds the same ones for the host.
set(DG_CUDA_HOST open.c memory.c reserve.c stage.c tracks.c record.c weight.c ops.c attention.c attention_mma.c attention_train.c block.c train.c multiply.c nccl.c team.c)
set(DG_CUDA_KERNELS pointwise.cu norm.cu attention.cu attention64.cu attention_mma.cu topk.cu tracks.cu update.cu backward.cu norm_grad.cu loss.cu attention_grad.cu attention_mma_grad.cu gemm_own.cu)
