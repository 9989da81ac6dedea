/* Memory that is kept for SentencePiece when there is none. Its protocol buffers are not exception-
 * safe: where `new` throws half-way through a list, what clears it up ends the process. So a call
 * of the library holds a reserve of what it may take, and `new`, before it would throw, lets go of
 * that and tries once more. C++ alone, for tokenizer/spm_*.cc. Any thread; each has its own
 * reserve. */
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
    /* false: there was not so much memory, and the library must not be called. */
    bool held() const noexcept
    {
        return held_;
    }

  private:
    bool held_;
};

} // namespace dg

#endif
