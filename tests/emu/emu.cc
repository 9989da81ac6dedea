#include "tests/emu/emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <memory>
#include <vector>

namespace
{

constexpr int WARP = 32;
constexpr size_t GIVEN = 32; /* the most bytes that a lane exchanges at once */
constexpr size_t STACK = 128 * 1024;

unsigned char *shared_memory;

/* A copy that a thread has requested and not yet waited for. */
struct copy {
    void *to;
    const void *from;
};

void copy_all(std::vector<copy> &copies)
{
    for (const copy &c : copies)
        memcpy(c.to, c.from, 16);
    copies.clear();
}

[[noreturn]] void die(const char *what)
{
    fprintf(stderr, "emulation: %s\n", what);
    abort();
}

} // namespace

unsigned char *dg_emu_shared()
{
    return shared_memory;
}

#ifdef DG_EMU_THREADS

#include <pthread.h>

#include <thread>

namespace
{

struct warp {
    pthread_barrier_t barrier;
    unsigned char slots[2][WARP][GIVEN];
};

struct machine {
    pthread_barrier_t barrier[2]; /* used alternately: ThreadSanitizer misses a race across one */
    std::vector<std::unique_ptr<warp>> warps;
};

machine *running;
thread_local dg_emu_thread self;
thread_local unsigned turn, exchanges;
thread_local std::vector<copy> copies;

void run_thread(dim3 grid, unsigned x, const std::function<void()> &kernel)
{
    self = {dim3(x), dim3(0), grid};
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned b = 0; b < grid.x; b++) {
                self.block = dim3(b, y, z);
                dg_emu_sync_block(); /* blocks share the static __shared__ */
                kernel();
                dg_emu_sync_block();
            }
}

} // namespace

const dg_emu_thread *dg_emu_self()
{
    return &self;
}

void dg_emu_sync_block()
{
    pthread_barrier_wait(&running->barrier[turn++ & 1]);
}

void dg_emu_sync_warp()
{
    pthread_barrier_wait(&running->warps[self.thread.x / WARP]->barrier);
}

void dg_emu_exchange(const void *mine, void *theirs, size_t bytes, int lanes)
{
    warp *w = running->warps[self.thread.x / WARP].get();
    const unsigned lane = self.thread.x % WARP, half = exchanges++ & 1;
    memcpy(w->slots[half][lane], mine, bytes);
    pthread_barrier_wait(&w->barrier);
    memcpy(theirs, w->slots[half][lane ^ (unsigned)lanes], bytes);
}

void dg_emu_gather(const void *mine, void *all, size_t bytes)
{
    warp *w = running->warps[self.thread.x / WARP].get();
    const unsigned half = exchanges++ & 1;
    memcpy(w->slots[half][self.thread.x % WARP], mine, bytes);
    pthread_barrier_wait(&w->barrier);
    for (size_t lane = 0; lane < WARP; lane++)
        memcpy((unsigned char *)all + lane * bytes, w->slots[half][lane], bytes);
}

void dg_emu_copy(void *to, const void *from)
{
    copies.push_back({to, from});
}

void dg_emu_copy_wait()
{
    copy_all(copies);
}

void dg_emu_launch(dim3 grid, dim3 block, size_t shared, const std::function<void()> &kernel)
{
    if (block.y != 1 || block.z != 1 || block.x % WARP)
        die("blocks are of one dimension and whole warps");
    machine m;
    for (pthread_barrier_t &b : m.barrier)
        pthread_barrier_init(&b, nullptr, block.x);
    for (unsigned w = 0; w < block.x / WARP; w++) {
        m.warps.emplace_back(new warp());
        pthread_barrier_init(&m.warps[w]->barrier, nullptr, WARP);
    }
    std::vector<unsigned char> memory(shared + 1);
    shared_memory = memory.data();
    running = &m;
    std::vector<std::thread> threads;
    for (unsigned x = 0; x < block.x; x++)
        threads.emplace_back([&, x] { run_thread(grid, x, kernel); });
    for (std::thread &t : threads)
        t.join();
    for (pthread_barrier_t &b : m.barrier)
        pthread_barrier_destroy(&b);
    for (auto &w : m.warps)
        pthread_barrier_destroy(&w->barrier);
}

#else

#if defined(__x86_64__)
/* Saves the registers that the ABI preserves across a call, and switches stacks; swapcontext would
 * make two system calls. */
extern "C" void dg_emu_switch(void **from, void *to);
asm(R"(
.text
.globl dg_emu_switch
.hidden dg_emu_switch
.type dg_emu_switch,@function
dg_emu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size dg_emu_switch,.-dg_emu_switch
)");
#endif

namespace
{

enum wait { RUNNING, AT_BLOCK, AT_WARP, DONE };

struct fiber {
    dg_emu_thread self;
    wait state;
    unsigned exchanges;
    unsigned char given[2][GIVEN];
    std::vector<copy> copies;
#if defined(__x86_64__)
    void *stack_pointer;
#else
    ucontext_t context;
#endif
};

struct machine {
    std::vector<fiber> fibers;
    std::vector<std::unique_ptr<unsigned char[]>> stacks;
    const std::function<void()> *kernel;
    fiber *now;
#if defined(__x86_64__)
    void *scheduler;
#else
    ucontext_t scheduler;
#endif
};

machine m;

void leave(wait why)
{
    fiber *f = m.now;
    f->state = why;
#if defined(__x86_64__)
    dg_emu_switch(&f->stack_pointer, m.scheduler);
#else
    swapcontext(&f->context, &m.scheduler);
#endif
}

extern "C" void dg_emu_fiber()
{
    (*m.kernel)();
    leave(DONE);
    die("a finished fiber ran on");
}

void prepare(fiber *f, unsigned char *stack)
{
    f->state = RUNNING;
    f->exchanges = 0;
    f->copies.clear();
#if defined(__x86_64__)
    /* The first switch pops six registers and returns into dg_emu_fiber, with the stack aligned as
     * after a call. */
    void **top = (void **)((uintptr_t)(stack + STACK) & ~(uintptr_t)15);
    *--top = nullptr;
    *--top = (void *)dg_emu_fiber;
    for (int i = 0; i < 6; i++)
        *--top = nullptr;
    f->stack_pointer = top;
#else
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = stack;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = nullptr;
    makecontext(&f->context, dg_emu_fiber, 0);
#endif
}

void resume(fiber *f)
{
    m.now = f;
#if defined(__x86_64__)
    dg_emu_switch(&m.scheduler, f->stack_pointer);
#else
    swapcontext(&m.scheduler, &f->context);
#endif
}

/* Lets fibers [first, first+n) run if all of them wait for `what`. Returns true if they did. */
bool release(size_t first, size_t n, wait what)
{
    size_t there = 0;
    for (size_t i = first; i < first + n; i++)
        there += m.fibers[i].state == what;
    if (there != n)
        return false;
    for (size_t i = first; i < first + n; i++)
        m.fibers[i].state = RUNNING;
    return true;
}

/* Runs one block from start to end. */
void run_block(bool reverse)
{
    const size_t n = m.fibers.size();
    for (;;) {
        size_t ran = 0, done = 0;
        for (size_t k = 0; k < n; k++) {
            fiber *f = &m.fibers[reverse ? n - 1 - k : k];
            if (f->state == RUNNING) {
                resume(f);
                ran++;
            }
            done += f->state == DONE;
        }
        if (done == n)
            return;
        bool freed = release(0, n, AT_BLOCK);
        for (size_t w = 0; w < n; w += WARP)
            freed = release(w, WARP, AT_WARP) || freed;
        if (!ran && !freed)
            die("threads wait at different barriers, or some have left");
    }
}

} // namespace

const dg_emu_thread *dg_emu_self()
{
    return &m.now->self;
}

void dg_emu_sync_block()
{
    leave(AT_BLOCK);
}

void dg_emu_sync_warp()
{
    leave(AT_WARP);
}

void dg_emu_exchange(const void *mine, void *theirs, size_t bytes, int lanes)
{
    fiber *f = m.now;
    const unsigned half = f->exchanges++ & 1;
    memcpy(f->given[half], mine, bytes);
    leave(AT_WARP);
    const size_t at = (size_t)(f - m.fibers.data()),
                 other = (at & ~(size_t)(WARP - 1)) | ((at ^ (size_t)lanes) & (WARP - 1));
    memcpy(theirs, m.fibers[other].given[half], bytes);
}

void dg_emu_gather(const void *mine, void *all, size_t bytes)
{
    fiber *f = m.now;
    const unsigned half = f->exchanges++ & 1;
    memcpy(f->given[half], mine, bytes);
    leave(AT_WARP);
    const size_t first = (size_t)(f - m.fibers.data()) & ~(size_t)(WARP - 1);
    for (size_t lane = 0; lane < WARP; lane++)
        memcpy((unsigned char *)all + lane * bytes, m.fibers[first + lane].given[half], bytes);
}

void dg_emu_copy(void *to, const void *from)
{
    m.now->copies.push_back({to, from});
}

void dg_emu_copy_wait()
{
    copy_all(m.now->copies);
}

void dg_emu_launch(dim3 grid, dim3 block, size_t shared, const std::function<void()> &kernel)
{
    if (block.y != 1 || block.z != 1 || block.x % WARP)
        die("blocks are of one dimension and whole warps");
    const char *order = getenv("DRAGOMAN_EMU_ORDER");
    const bool reverse = order && !strcmp(order, "reverse");
    m.fibers.assign(block.x, fiber());
    while (m.stacks.size() < block.x)
        m.stacks.emplace_back(new unsigned char[STACK]);
    m.kernel = &kernel;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned b = 0; b < grid.x; b++) {
                /* Allocated anew for each block, so that ASan sees its end; unwritten floats read
                 * as NaN. */
                std::unique_ptr<unsigned char[]> memory(new unsigned char[shared ? shared : 1]);
                memset(memory.get(), 0xFF, shared);
                shared_memory = memory.get();
                for (unsigned x = 0; x < block.x; x++) {
                    fiber *f = &m.fibers[x];
                    f->self = {dim3(x), dim3(b, y, z), grid};
                    prepare(f, m.stacks[x].get());
                }
                run_block(reverse);
            }
}

#endif
