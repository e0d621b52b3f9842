// feedctl relations list: a page of whom a user follows, who follows them, or both; newest first.
#include <cstdio>

#include "backends/mysql/edges/relation_store.h"
#include "daemon/observe/log.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"
#include "feedctl/support/user_id.h"

namespace fanline::feedctl {
namespace {

constexpr std::pair<const char*, UserList> kLists[] = {{"following", UserList::kFollowing},
                                                       {"followers", UserList::kFollowers},
                                                       {"friends", UserList::kFriends}};

class RelationsList : public Command {
 public:
  RelationsList(daemon::OptionTable& table, Settings& settings) : Command(settings) {
    std::vector<std::string> names;
    for (const auto& [name, list] : kLists) names.emplace_back(name);
    table.AddPositional("list", &list_, "which of the user's lists").OneOf(names);
    table.AddPositional("user", &user_, "whose list");
    table.Add("limit", &limit_, "entries of the page").Range(1, mysql::RelationLists::kMostPerPage);
    table.Add("cursor", &cursor_, "where the page begins: the cursor an earlier page ended with");
    table.Add("relation-to", &relation_to_, "say of every entry how this user stands to it")
        .Unit("ID");
    table.Add("json", &json_, "print the page as one JSON object");
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const UserId user = RequireUserId("<user>", user_);
    const auto after = Cursor();
    const auto viewer = Viewer();
    const mysql::Installation installation = ReadInstalled(settings_);
    mysql::MysqlRelationStore store(options::ToConfig(settings_.mysql), installation.shard_map,
                                    installation.following_limit, {});
    RelationCounts counts;
    Require(store.Counts(user, &counts), settings_);
    ListPage page;
    Require(store.ReadList(List(), user, after, limit_, &page), settings_);
    const std::vector<CheckAnswer> relations =
        viewer ? RelationsOf(store, *viewer, page) : std::vector<CheckAnswer>();
    json_ ? PrintJson(counts, page, relations) : PrintText(counts, page, relations);
    return 0;
  }

 private:
  UserList List() const {
    for (const auto& [name, list] : kLists) {
      if (list_ == name) return list;
    }
    return UserList::kFollowing;
  }

  std::optional<ListCursor> Cursor() const {
    if (cursor_.empty()) return std::nullopt;
    const auto cursor = ParseListCursor(cursor_);
    RequireUsage(cursor ? ""
                        : "--cursor: " + QuotedShort(cursor_) +
                              " is no cursor; pass what a page ended with");
    return cursor;
  }

  std::optional<UserId> Viewer() const {
    if (relation_to_.empty()) return std::nullopt;
    return RequireUserId("--relation-to", relation_to_);
  }

  // The relations of the entries, in their order.
  std::vector<CheckAnswer> RelationsOf(RelationStore& store, UserId viewer,
                                       const ListPage& page) const {
    std::vector<CheckItem> items;
    for (const ListEntry& entry : page.entries) items.push_back({.user = Raw(entry.user)});
    std::vector<CheckAnswer> answers;
    Require(store.Check(viewer, items, Sides::kBoth, &answers), settings_);
    return answers;
  }

  void PrintText(const RelationCounts& counts, const ListPage& page,
                 const std::vector<CheckAnswer>& relations) const {
    std::printf("user %s: following %lld, followers %lld\n", user_.c_str(),
                static_cast<long long>(counts.following), static_cast<long long>(counts.followers));
    if (page.entries.empty()) {
      std::printf(cursor_.empty() ? "nobody to show\n" : "nobody older\n");
      return;
    }
    PrintLine("user", "since", relations.empty() ? "" : "relation of " + relation_to_);
    for (size_t i = 0; i < page.entries.size(); ++i) {
      const ListEntry& entry = page.entries[i];
      PrintLine(ToString(entry.user), daemon::Rfc3339(entry.pos),
                relations.empty() ? "" : NameOf(relations[i].relation));
    }
    if (page.next) std::printf("next page: --cursor %s\n", CursorText(*page.next).c_str());
  }

  static void PrintLine(const std::string& user, const std::string& since,
                        const std::string& relation) {
    const std::string line = Left(user, 22);
    std::printf("%s%s\n", line.c_str(),
                (relation.empty() ? since : Left(since, 26) + relation).c_str());
  }

  void PrintJson(const RelationCounts& counts, const ListPage& page,
                 const std::vector<CheckAnswer>& relations) const {
    Json items = Json::array();
    for (size_t i = 0; i < page.entries.size(); ++i) {
      Json item = {{"id", ToString(page.entries[i].user)}, {"since_ms", page.entries[i].pos}};
      if (!relations.empty()) item["relation"] = NameOf(relations[i].relation);
      items.push_back(std::move(item));
    }
    PutJson({{"user", user_},
             {"following", counts.following},
             {"followers", counts.followers},
             {"items", std::move(items)},
             {"next_cursor", page.next ? Json(CursorText(*page.next)) : Json()}});
  }

  std::string list_;
  std::string user_;
  uint32_t limit_ = 50;
  std::string cursor_;
  std::string relation_to_;
  bool json_ = false;
};

}  // namespace

extern const Row kRelationsList =
    RowOf<RelationsList>("relations list", "shows a page of following, followers or friends");

}  // namespace fanline::feedctl
