#include "tokenizer/spm_reserve.h"

#include "base/thread_block.h"

#include <cstdlib>
#include <new>

namespace
{

/* This thread's reserve; NULL: none, or already freed. Not a thread_local object, because
 * registering its destructor ends the process when memory is out. */
__thread void *reserve;

/* The previous handler, set by the program that contains this code; null: none. */
std::new_handler before;

void let_go()
{
    if (!reserve && before)
        return before();
    if (!reserve)
        throw std::bad_alloc();
    free(reserve);
    reserve = nullptr;
}

} // namespace

namespace dg
{

Reserve::Reserve(size_t bytes) noexcept
{
    static const bool installed = (before = std::set_new_handler(let_go), true);
    (void)installed;
    /* Its pages are never touched. */
    reserve = dg_thread_block_take(DG_THREAD_BLOCK_SPM, bytes);
    held_ = reserve != nullptr;
}

Reserve::~Reserve()
{
    dg_thread_block_give(DG_THREAD_BLOCK_SPM, reserve);
    reserve = nullptr;
}

} // namespace dg
