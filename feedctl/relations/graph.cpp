#include "feedctl/relations/graph.h"

#include <algorithm>
#include <optional>

#include "fanline/base/number.h"
#include "feedctl/support/line_reader.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

// The first word of `rest`, which moves past it; empty: there is none.
std::string_view TakeWord(std::string_view& rest) {
  const size_t begin = rest.find_first_not_of(kBlanks);
  rest.remove_prefix(begin == std::string_view::npos ? rest.size() : begin);
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  return word;
}

BadEdge BadId(std::string_view word, uint64_t id_offset) {
  std::string reason = QuotedShort(word);
  if (word == "0" && id_offset == 0) {
    return {reason + " is no user id: ids begin at 1; pass --id-offset 1"};
  }
  return {reason + " is no user id: a whole number from 1 to 2^64-2" +
          (id_offset == 0 ? "" : " when --id-offset is added")};
}

std::optional<UserId> ParseUser(std::string_view word, uint64_t id_offset) {
  const auto raw = ParseNumber<uint64_t>(word);
  if (!raw || *raw > UINT64_MAX - id_offset || !IsValidId(*raw + id_offset)) return std::nullopt;
  return UserId{*raw + id_offset};
}

}  // namespace

std::variant<FileEdge, NoEdge, BadEdge> ParseEdgeLine(std::string_view line, uint64_t id_offset) {
  std::string_view rest = line;
  const std::string_view from_word = TakeWord(rest);
  if (from_word.empty() || from_word.front() == '#') return NoEdge{};
  const std::string_view to_word = TakeWord(rest);
  if (to_word.empty()) return BadEdge{"one id only; a line is two ids, who follows and whom"};
  const std::string_view delivery_word = TakeWord(rest);
  const auto delivery = ParseDelivery(delivery_word);
  if (!delivery && !delivery_word.empty()) {
    return BadEdge{QuotedShort(delivery_word) +
                   " behind two ids; there are all, no_reposts, none or nothing"};
  }
  if (!TakeWord(rest).empty()) {
    return BadEdge{"more than three words; a line is who follows, whom, and what that brings"};
  }
  const auto from = ParseUser(from_word, id_offset);
  if (!from) return BadId(from_word, id_offset);
  const auto to = ParseUser(to_word, id_offset);
  if (!to) return BadId(to_word, id_offset);
  return FileEdge{{.src = *from, .dst = *to}, delivery};
}

void Graph::Add(const FileEdge& edge) {
  if (edge.key.src == edge.key.dst) {
    alone_.push_back(edge.key.src);
  } else {
    edges_.push_back(edge);
  }
}

std::vector<UserId> Graph::Users() const {
  std::vector<UserId> users = alone_;
  users.reserve(users.size() + 2 * edges_.size());
  for (const FileEdge& edge : edges_) {
    users.push_back(edge.key.src);
    users.push_back(edge.key.dst);
  }
  std::sort(users.begin(), users.end());
  users.erase(std::unique(users.begin(), users.end()), users.end());
  return users;
}

Graph ReadGraph(LineReader& lines, uint64_t id_offset,
                const std::function<void(uint64_t)>& progress) {
  Graph graph;
  std::string_view line;
  while (lines.Next(&line)) {
    const auto parsed = ParseEdgeLine(line, id_offset);
    if (const auto* bad = std::get_if<BadEdge>(&parsed)) throw lines.Bad(bad->reason);
    if (const auto* edge = std::get_if<FileEdge>(&parsed)) graph.Add(*edge);
    if (lines.number() % 4096 == 0) progress(lines.number());
  }
  return graph;
}

}  // namespace fanline::feedctl
