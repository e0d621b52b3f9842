// A shard's primary that a planned switchover leaves up and read-only, until the test ends.
#pragma once

#include <string>

#include "backends/mysql/sql/config.h"
#include "backends/mysql/sql/connection.h"

namespace fanline::mysql {

// The administrator, of the same password: see stack/services/mysql.py.
inline Config AsAdmin(Config config) {
  config.user = "admin";
  return config;
}

// Of the test's own, anew. MySQL has no CREATE OR REPLACE USER.
inline void MakeUser(Connection& admin, const std::string& name, const std::string& password) {
  admin.Execute("DROP USER IF EXISTS " + name + "@127.0.0.1");
  admin.Execute("CREATE USER " + name + "@127.0.0.1 IDENTIFIED BY '" + password + "'");
}

class DemotablePrimary {
 public:
  DemotablePrimary(const Config& config, Shard shard)
      : config_(AsAdmin(config)), admin_(config_, shard) {
    admin_.Open();
  }
  ~DemotablePrimary() { SetReadOnly("OFF"); }

  void SetReadOnly(const std::string& value) { admin_.Execute("SET GLOBAL read_only = " + value); }
  const Config& config() const { return config_; }
  Connection& admin() { return admin_; }

 private:
  const Config config_;
  Connection admin_;
};

}  // namespace fanline::mysql
