// What a later version may add to the tables that programs of today write. Linked before ours, it
// makes feedctl the feedctl of that version.
#include "backends/mysql/installation/migrations.h"

namespace fanline::mysql {

const Migrations& OurMigrations() {
  static const Migrations all = MigrationsOf({
      {"0001_later_columns.sql",
       "ALTER TABLE installation ADD COLUMN later INT NOT NULL DEFAULT 7;"
       "ALTER TABLE following ADD COLUMN later INT NOT NULL DEFAULT 7 AFTER dst;"
       "ALTER TABLE follower ADD COLUMN later INT NOT NULL DEFAULT 7 AFTER dst;"
       "ALTER TABLE log1 ADD COLUMN later INT NOT NULL DEFAULT 7 AFTER id;"
       "ALTER TABLE author_post ADD COLUMN later INT NOT NULL DEFAULT 7 FIRST;"},
      {"0002_later_table.sql",
       "-- With a comment.\n"
       "CREATE TABLE IF NOT EXISTS later_table (id BIGINT UNSIGNED NOT NULL, PRIMARY KEY (id));"},
  });
  return all;
}

}  // namespace fanline::mysql
