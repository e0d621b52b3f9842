#include "backends/mysql/installation/migrations.h"
#include "schemas/sql_migrations.h"

namespace fanline::mysql {

const Migrations& OurMigrations() {
  static const Migrations all = [] {
    std::vector<MigrationFile> files;
    for (const auto& [name, text] : sql_migrations::kFiles) files.push_back({name, text});
    return MigrationsOf(files);
  }();
  return all;
}

}  // namespace fanline::mysql
