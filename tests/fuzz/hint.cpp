// fanout-tasks.
#include "fanline/model/hint.h"

#include "fanline/model/bucket.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"

using namespace fanline;

FUZZ_TARGET(hint) {
  const auto decoded = DecodeHint(bytes);
  if (const auto* refused = std::get_if<Rejection>(&decoded)) return fuzz::CheckReason(*refused);
  const Hint& hint = std::get<Hint>(decoded);
  FANLINE_CHECK(IsValidId(Raw(hint.author)), "the author's id is valid");
  const auto* post = std::get_if<Hint::Post>(&hint.what);
  FANLINE_CHECK(
      IsValidId(post != nullptr ? Raw(post->post) : Raw(std::get<Hint::Sync>(hint.what).reader)),
      "the post's id is valid, or the reader's");
  if (post != nullptr && post->sample) {
    FANLINE_CHECK(post->sample->part < kBuckets && post->sample->parts - 1 < kBuckets,
                  "a range has the part, and there is one");
  }
  const std::string again = EncodeHint(hint);
  FANLINE_CHECK(fuzz::IsExactly(DecodeHint(again), hint), "the same when sent again");
  FANLINE_CHECK(EncodeHint(std::get<Hint>(DecodeHint(again))) == again, "one spelling");
}
