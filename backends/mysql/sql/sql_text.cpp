#include "backends/mysql/sql/sql_text.h"

#include "fanline/base/check.h"

namespace fanline::mysql {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view Trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

void AppendHex(std::string& sql, uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
  sql += "0x";
  sql.append(digits, end);
}

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += c;
    quoted += c;
  }
  return quoted + "'";
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string QuotedName(std::string_view identifier) {
  FANLINE_CHECK(IsIdentifier(identifier), "the name of a table or column");
  return '`' + std::string(identifier) + '`';
}

std::vector<std::string> SplitStatements(std::string_view script) {
  std::vector<std::string> statements;
  std::string statement;
  const auto finish = [&] {
    const auto trimmed = Trimmed(statement);
    if (!trimmed.empty()) statements.emplace_back(trimmed);
    statement.clear();
  };
  char quote = 0;
  for (size_t i = 0; i < script.size(); ++i) {
    const char c = script[i];
    if (quote == 0 && script.substr(i, 2) == "--") {
      i = std::min(script.find('\n', i), script.size()) - 1;
      continue;
    }
    if (quote == 0 && c == ';') {
      finish();
      continue;
    }
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"' || c == '`')) {
      quote = c;
    }
    statement += c;
  }
  finish();
  return statements;
}

}  // namespace fanline::mysql
