# Training's half of the model: never linked into the server.
add_library(dg_model_train STATIC param_block.c tape.c loss.c backward.c)
target_link_libraries(dg_model_train PUBLIC dg_model dg_kernels_train dg_kernels dg_base)
