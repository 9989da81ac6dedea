#include "tokenizer/spm_reserve.h"

#include "base/thread_block.h"

#include <cstdlib>
#include <new>

namespace
{

/* Of this thread; NULL: none, or let go of. No thread_local object: what registers its destructor
 * ends the process where there is no memory. */
__thread void *reserve;

/* The handler of the program that this is a part of; null: none. */
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
    /* No page of it is ever touched. */
    reserve = dg_thread_block_take(DG_THREAD_BLOCK_SPM, bytes);
    held_ = reserve != nullptr;
}

Reserve::~Reserve()
{
    dg_thread_block_give(DG_THREAD_BLOCK_SPM, reserve);
    reserve = nullptr;
}

} // namespace dg
