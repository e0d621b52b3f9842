#include "daemon/options/options.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "daemon/options/redact.h"
#include "fanline/base/check.h"

namespace fanline::daemon {
namespace {

// A bound in the unit of its target.
int64_t CountOf(const OptionTarget& target, Duration bound) {
  FANLINE_CHECK(IsDuration(target), "durations bound durations only");
  if (std::holds_alternative<Duration*>(target)) return bound.count();
  return Milliseconds(bound);
}

}  // namespace

std::string EnvNameOf(std::string_view option) {
  std::string name(kEnvPrefix);
  for (const char c : option) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

Option::Option(std::string name, OptionTarget target, std::string description, bool positional)
    : name_(std::move(name)),
      description_(std::move(description)),
      shown_default_(Redact(ShowValue(target))),
      target_(std::move(target)),
      positional_(positional),
      required_(positional) {}

Option& Option::Range(int64_t min, int64_t max) {
  FANLINE_CHECK(!IsDuration(target_), "durations are bounded by durations");
  range_ = ValueRange{min, max};
  return *this;
}

Option& Option::Range(Duration min, Duration max) {
  range_ = ValueRange{CountOf(target_, min), CountOf(target_, max)};
  return *this;
}

Option& Option::OneOf(std::vector<std::string> texts) {
  FANLINE_CHECK(std::holds_alternative<std::string*>(target_), "OneOf is for strings");
  one_of_ = std::move(texts);
  return *this;
}

Option& Option::Unit(std::string unit) {
  unit_ = std::move(unit);
  return *this;
}

Option& Option::Secret() {
  secret_ = true;
  shown_default_ = shown_default_.empty() ? "" : std::string(kMasked);
  return *this;
}

Option& Option::Required() {
  required_ = true;
  return *this;
}

Option& Option::Optional() {
  required_ = false;
  return *this;
}

std::string Option::Flag() const { return positional_ ? "<" + name_ + ">" : "--" + name_; }

std::string Option::ValueName() const {
  if (!unit_.empty()) return unit_;
  std::string texts;
  for (const std::string& text : one_of_) texts += (texts.empty() ? "" : "|") + text;
  return texts.empty() ? Placeholder(target_) : texts;
}

std::string Option::RangeText() const { return range_ ? ShowRange(target_, *range_) : ""; }

std::string Option::Shown() const {
  const std::string value = ShowValue(target_);
  if (secret_ && !value.empty()) return std::string(kMasked);
  return Redact(value);
}

std::string Option::Store(const std::vector<std::string>& texts) const {
  const bool listed = one_of_.empty() || texts.size() != 1 ||
                      std::find(one_of_.begin(), one_of_.end(), texts.front()) != one_of_.end();
  if (!listed) return "is not one of " + ValueName();
  return StoreValue(target_, range_, texts);
}

OptionTable::OptionTable(std::string program, std::string summary)
    : name_(std::move(program)), summary_(std::move(summary)) {}

OptionTable::OptionTable(const OptionTable* outer, std::string name, std::string summary)
    : outer_(outer), name_(std::move(name)), summary_(std::move(summary)) {}

Option& OptionTable::Add(std::string name, OptionTarget target, std::string description) {
  RefuseSecondDeclaration(name);
  options_.push_back(std::make_unique<Option>(std::move(name), std::move(target),
                                              std::move(description), /*positional=*/false));
  return *options_.back();
}

void OptionTable::AddSecret(const std::string& name, Secret* target,
                            const std::string& description) {
  Add(name, &target->text, description).Secret();
  Add(name + "-file", &target->file,
      "a file that holds it, instead; read again for each new connection")
      .Unit("PATH");
  Check([name, target]() -> std::string {
    if (!target->text.empty() && !target->file.empty()) {
      return "--" + name + ": --" + name + "-file is given, too; leave one of them out";
    }
    std::string secret;
    const std::string wrong = target->Read(&secret);
    return wrong.empty() ? wrong : "--" + name + "-file: " + wrong;
  });
}

Option& OptionTable::AddPositional(std::string name, OptionTarget target, std::string description) {
  RefuseSecondDeclaration(name);
  options_.push_back(std::make_unique<Option>(std::move(name), std::move(target),
                                              std::move(description), /*positional=*/true));
  return *options_.back();
}

OptionTable& OptionTable::AddCommand(std::string name, std::string summary) {
  commands_.emplace_back(new OptionTable(this, std::move(name), std::move(summary)));
  return *commands_.back();
}

void OptionTable::Check(std::function<std::string()> rule) { checks_.push_back(std::move(rule)); }

void OptionTable::RefuseSecondDeclaration(const std::string& name) const {
  for (const OptionTable* table = this; table; table = table->outer_) {
    const bool taken = std::any_of(table->options_.begin(), table->options_.end(),
                                   [&](const auto& option) { return option->name() == name; });
    FANLINE_CHECK(!taken, "an option is declared twice");
  }
}

}  // namespace fanline::daemon
