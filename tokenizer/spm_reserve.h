/* A memory reserve for SentencePiece. Its protocol buffers are not exception-safe: if `new` throws
 * half-way through a list, the cleanup ends the process. A call of the library therefore holds a
 * reserve; before `new` throws, it frees the reserve and tries again. C++ only, for
 * tokenizer/spm_*.cc. Any thread; each has its own reserve. */
#ifndef DG_TOKENIZER_SPM_RESERVE_H
#define DG_TOKENIZER_SPM_RESERVE_H

#include <cstddef>

namespace dg
{

/* While an object exists, its thread has a reserve. One object per thread at a time. */
class Reserve
{
  public:
    explicit Reserve(size_t bytes) noexcept;
    ~Reserve();
    Reserve(const Reserve &) = delete;
    Reserve &operator=(const Reserve &) = delete;
    /* false: out of memory; do not call the library. */
    bool held() const noexcept
    {
        return held_;
    }

  private:
    bool held_;
};

} // namespace dg

#endif
