/* Memory that is kept for SentencePiece when there is none. Its protocol buffers are not exception-
 * safe: where `new` throws half-way through a list, what clears it up ends the process. A call of
 * the library therefore holds a memory reserve. Before `new` throws, it frees the reserve and tries
 * again. C++ only, for tokenizer/spm_*.cc. Any thread; each has its own reserve. */
#ifndef DG_TOKENIZER_SPM_RESERVE_H
#define DG_TOKENIZER_SPM_RESERVE_H

#include <cstddef>

namespace dg
{

/* As long as it lives, this thread has a reserve; one at a time. */
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
