# dg_sim: the server in fake time; dragoman-sim: measures what a step costs, and replays arrivals against that.
add_library(dg_sim STATIC ${CMAKE_CURRENT_LIST_DIR}/sim/arrivals.c ${CMAKE_CURRENT_LIST_DIR}/sim/cost.c
  ${CMAKE_CURRENT_LIST_DIR}/sim/sim.c)
target_link_libraries(dg_sim PUBLIC dg_server dg_base m)

add_executable(dragoman-sim ${CMAKE_CURRENT_LIST_DIR}/sim/command.c ${CMAKE_CURRENT_LIST_DIR}/sim/company.c
  ${CMAKE_CURRENT_LIST_DIR}/sim/crowd.c ${CMAKE_CURRENT_LIST_DIR}/sim/main.c
  ${CMAKE_CURRENT_LIST_DIR}/sim/measure.c ${CMAKE_CURRENT_LIST_DIR}/sim/probe.c ${CMAKE_CURRENT_LIST_DIR}/sim/replay.c)
target_link_libraries(dragoman-sim PRIVATE dg_sim dg_translate dg_model dg_kernels dg_base Threads::Threads)
