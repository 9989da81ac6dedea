# dragoman-load: the load generator; make-tiny-bundle: a model for it to be tried on.
add_executable(dragoman-load ${CMAKE_CURRENT_LIST_DIR}/load/main.c ${CMAKE_CURRENT_LIST_DIR}/load/client.c
  ${CMAKE_CURRENT_LIST_DIR}/load/idle.c ${CMAKE_CURRENT_LIST_DIR}/load/items.c ${CMAKE_CURRENT_LIST_DIR}/load/options.c
  ${CMAKE_CURRENT_LIST_DIR}/load/reply.c ${CMAKE_CURRENT_LIST_DIR}/load/report.c ${CMAKE_CURRENT_LIST_DIR}/load/schedule.c
  ${CMAKE_CURRENT_LIST_DIR}/load/slow.c ${CMAKE_CURRENT_LIST_DIR}/load/timers.c)
target_link_libraries(dragoman-load PRIVATE dg_base Threads::Threads m)

add_executable(make-tiny-bundle ${CMAKE_CURRENT_LIST_DIR}/../tests/soak/make_tiny_bundle.c)
target_link_libraries(make-tiny-bundle PRIVATE dg_model dg_tokenizer dg_weights dg_base m)
