#include "api/operations/problem.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fanline::api {
namespace {

TEST(Problem, IsADocumentWithACodeForPrograms) {
  const Response response = ToResponse({Code::kFollowingLimit, "too many"});
  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(response.body, R"({"title":"Conflict","status":409,)"
                           R"("code":"following_limit","detail":"too many"})");
  EXPECT_TRUE(response.headers.empty());
}

TEST(Problem, Of503SaysWhenToComeBack) {
  for (const Code code : {Code::kOverloaded, Code::kStoreUnavailable}) {
    const auto headers = ToResponse({code, "x"}).headers;
    ASSERT_EQ(headers.size(), 1u);
    EXPECT_EQ(headers.front().first, "Retry-After");
    EXPECT_EQ(headers.front().second, "1");
  }
}

TEST(Problem, OfAServersAnswerSaysTheSame) {
  for (const int status : {400, 404, 408, 413, 414, 415, 417, 431, 500, 501, 503, 505}) {
    EXPECT_EQ(ToResponse(ProblemOfStatus(status)).status, status);
  }
  EXPECT_EQ(ToResponse(ProblemOfStatus(416)).status, 400);  // what the API does not know
}

}  // namespace
}  // namespace fanline::api
