/* Included by tests that request an impossible amount of memory: malloc then returns NULL under the
 * sanitizers as it does without them. */
#ifndef DG_TESTS_UNIT_NO_MEMORY_H
#define DG_TESTS_UNIT_NO_MEMORY_H

const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

#endif
