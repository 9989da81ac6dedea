#include "base/thread_name.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static const char PREFIX[] = "dg-";

void dg_thread_name(const char *format, ...)
{
    char name[DG_THREAD_NAME];
    const size_t n = sizeof PREFIX - 1;
    va_list values;
    snprintf(name, sizeof name, "%s", PREFIX);
    va_start(values, format);
    vsnprintf(name + n, sizeof name - n, format, values);
    va_end(values);
    pthread_setname_np(pthread_self(), name);
}
