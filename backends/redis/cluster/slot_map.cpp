#include "backends/redis/cluster/slot_map.h"

#include <algorithm>
#include <string>

#include "fanline/base/number.h"

namespace fanline::redis {
namespace {

constexpr Slot kPerBucket = kSlots / kBuckets;

std::vector<std::string_view> Split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(by), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool Has(std::string_view flags, std::string_view wanted) {
  const auto words = Split(flags, ',');
  return std::find(words.begin(), words.end(), wanted) != words.end();
}

// "10.0.0.7:6379", "::1:6379", ":6379"; the part after '@' is not for clients.
std::optional<Endpoint> ParseNode(std::string_view text, const Endpoint& asked) {
  text = text.substr(0, text.find('@'));
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = ParseNumber<uint16_t>(text.substr(colon + 1));
  if (!port || *port == 0) return std::nullopt;
  const std::string_view host = text.substr(0, colon);
  return Endpoint{host.empty() ? asked.host : std::string(host), *port};
}

// "host-b" of "10.0.0.7:6379@16379,host-b,shard-id=5f". Empty, and "?": none.
std::string_view ParseName(std::string_view node) {
  node.remove_prefix(std::min(node.find('@'), node.size()));
  node.remove_prefix(std::min(node.find(','), node.size()));
  if (node.empty()) return {};
  const std::string_view name = node.substr(1, node.find(',', 1) - 1);
  return name == "?" || name.find('=') != std::string_view::npos ? std::string_view() : name;
}

// "5", "5-9"
std::optional<std::pair<Slot, Slot>> ParseSlots(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = ParseNumber<Slot>(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : ParseNumber<Slot>(text.substr(dash + 1));
  if (!first || !last || *first > *last || *last >= kSlots) return std::nullopt;
  return std::pair{*first, *last};
}

struct Line {
  std::string_view id;
  Endpoint address;
  std::string_view name;
  std::string_view flags;
  uint64_t epoch = 0;
  std::vector<std::string_view> slots;
};

std::optional<Line> ParseLine(std::string_view text, const Endpoint& asked) {
  const auto words = Split(text, ' ');
  if (words.size() < 8) return std::nullopt;
  const auto address = ParseNode(words[1], asked);
  const auto epoch = ParseNumber<uint64_t>(words[6]);
  if (!address || !epoch) return std::nullopt;
  return Line{words[0], *address, ParseName(words[1]),
              words[2], *epoch,   {words.begin() + 8, words.end()}};
}

// "[1280->-ID]": handed over to ID; "[1280-<-ID]": taken over from ID.
std::optional<OpenSlot> ParseOpen(std::string_view text, const Endpoint& self,
                                  const std::map<std::string_view, Endpoint>& by_id) {
  const size_t arrow = text.find('-');
  if (text.size() < 2 || arrow == std::string_view::npos || text.size() < arrow + 4) {
    return std::nullopt;
  }
  const auto slot = ParseNumber<Slot>(text.substr(1, arrow - 1));
  if (!slot || *slot >= kSlots) return std::nullopt;
  const auto found = by_id.find(text.substr(arrow + 3, text.size() - arrow - 4));
  const Endpoint other = found == by_id.end() ? Endpoint{} : found->second;
  const bool leaves = text[arrow + 1] == '>';
  return leaves ? OpenSlot{*slot, self, other} : OpenSlot{*slot, other, self};
}

}  // namespace

ClusterView ParseNodes(std::string_view text, const Endpoint& asked) {
  std::vector<Line> lines;
  std::map<std::string_view, Endpoint> by_id;
  for (const std::string_view each : Split(text, '\n')) {
    auto line = ParseLine(each.substr(0, each.find('\r')), asked);
    if (!line) continue;
    by_id[line->id] = line->address;
    lines.push_back(std::move(*line));
  }
  ClusterView view;
  for (const Line& line : lines) {
    if (!line.name.empty()) view.names.emplace_back(line.address, line.name);
    ClusterView::Master master{
        line.address, line.epoch, Has(line.flags, "fail") || Has(line.flags, "fail?"), {}};
    for (const std::string_view word : line.slots) {
      if (word.front() == '[') {
        const auto open = ParseOpen(word, line.address, by_id);
        if (open && Has(line.flags, "myself")) view.open.push_back(*open);
      } else if (const auto slots = ParseSlots(word)) {
        master.slots.push_back(*slots);
      }
    }
    if (Has(line.flags, "master") && !master.slots.empty()) view.masters.push_back(master);
  }
  return view;
}

std::optional<Redirect> ParseRedirect(std::string_view error, const Endpoint& asked) {
  const auto words = Split(error, ' ');
  if (words.size() < 3 || (words[0] != "MOVED" && words[0] != "ASK")) return std::nullopt;
  const auto slot = ParseNumber<Slot>(words[1]);
  const auto to = ParseNode(words[2], asked);
  if (!slot || *slot >= kSlots || !to) return std::nullopt;
  return Redirect{*slot, *to};
}

SlotMap SlotMap::Single(const Endpoint& node) {
  SlotMap map;
  const size_t index = map.IndexOf(node);
  map.claims_.fill({index, 0});
  return map;
}

size_t SlotMap::IndexOf(const Endpoint& node) {
  const auto found = std::find(nodes_.begin(), nodes_.end(), node);
  if (found != nodes_.end()) return static_cast<size_t>(found - nodes_.begin());
  nodes_.push_back(node);
  return nodes_.size() - 1;
}

void SlotMap::Add(const ClusterView& view) {
  for (const ClusterView::Master& master : view.masters) {
    const size_t node = IndexOf(master.address);
    if (master.failing) failing_.push_back(master.address);
    for (const auto& [first, last] : master.slots) {
      for (Bucket bucket = (first + kPerBucket - 1) / kPerBucket;
           bucket < kBuckets && SlotOf(bucket) <= last; ++bucket) {
        Claim& claim = claims_[bucket];
        if (claim.node == kNobody || claim.epoch < master.epoch) claim = {node, master.epoch};
      }
    }
  }
  for (const OpenSlot& open : view.open) {
    const bool known = std::any_of(open_.begin(), open_.end(),
                                   [&](const OpenSlot& other) { return other.slot == open.slot; });
    if (open.slot % kPerBucket == 0 && !known) open_.push_back(open);
  }
}

void SlotMap::Move(const Redirect& moved) {
  if (moved.slot % kPerBucket != 0) return;
  Claim& claim = claims_[moved.slot / kPerBucket];
  claim.node = IndexOf(moved.to);
}

const Endpoint* SlotMap::MasterOf(Bucket bucket) const {
  const size_t node = claims_[bucket].node;
  return node == kNobody ? nullptr : &nodes_[node];
}

std::vector<Endpoint> SlotMap::masters() const {
  std::vector<bool> serves(nodes_.size(), false);
  for (const Claim& claim : claims_) {
    if (claim.node != kNobody) serves[claim.node] = true;
  }
  std::vector<Endpoint> masters;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (serves[i]) masters.push_back(nodes_[i]);
  }
  return masters;
}

bool SlotMap::failing(const Endpoint& node) const {
  return std::find(failing_.begin(), failing_.end(), node) != failing_.end();
}

std::vector<OpenSlot> MigrationWatch::Look(const std::vector<OpenSlot>& open, Time now) {
  std::erase_if(seen_, [&](const auto& entry) {
    return std::none_of(open.begin(), open.end(),
                        [&](const OpenSlot& slot) { return slot.slot == entry.first; });
  });
  std::vector<OpenSlot> left;
  for (const OpenSlot& slot : open) {
    Seen& seen = seen_.try_emplace(slot.slot, Seen{now, false}).first->second;
    if (seen.left || now - seen.since < left_after_) continue;
    seen.left = true;
    left.push_back(slot);
  }
  return left;
}

size_t MigrationWatch::left() const {
  return static_cast<size_t>(std::count_if(seen_.begin(), seen_.end(),
                                           [](const auto& entry) { return entry.second.left; }));
}

}  // namespace fanline::redis
