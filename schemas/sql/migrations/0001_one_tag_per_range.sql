-- The tables of schema_version 5, all keys of a range under one tag, as they were at first. schemas/sql/shard.sql says what
-- they are for. range_owner had two columns more, last_offset and starts: shards of then keep them, and nobody reads them.
CREATE TABLE IF NOT EXISTS migration (
  number INT UNSIGNED NOT NULL,
  file   VARBINARY(64) NOT NULL,
  at     DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  PRIMARY KEY (number)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS installation (
  id             TINYINT UNSIGNED NOT NULL DEFAULT 1,
  schema_version INT UNSIGNED NOT NULL,
  buckets        INT UNSIGNED NOT NULL,
  partitions     INT UNSIGNED NOT NULL,
  shard_count    INT UNSIGNED NOT NULL,
  shard_index    INT UNSIGNED NOT NULL,
  shard_map      TEXT NOT NULL,
  generation     BIGINT UNSIGNED NOT NULL,
  feed_topic     VARCHAR(249) NOT NULL,
  tasks_topic    VARCHAR(249) NOT NULL,
  timeline_window      INT UNSIGNED NOT NULL,
  timeline_max_entries INT UNSIGNED NOT NULL,
  following_limit      INT UNSIGNED NOT NULL,
  PRIMARY KEY (id),
  CHECK (id = 1)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS setting (
  name  VARBINARY(64) NOT NULL,
  value VARBINARY(255) NOT NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS following (
  src   BIGINT UNSIGNED NOT NULL,
  dst   BIGINT UNSIGNED NOT NULL,
  ver   BIGINT UNSIGNED NOT NULL,
  state TINYINT NOT NULL,
  pos   BIGINT NOT NULL,
  app_version    BIGINT UNSIGNED NOT NULL DEFAULT 0,
  friend_version BIGINT UNSIGNED NOT NULL DEFAULT 0,
  friend_announced BIGINT UNSIGNED NOT NULL DEFAULT 0,
  ut    DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  PRIMARY KEY (src, dst),
  KEY newest (src, state, pos, dst)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS follower (
  dst    BIGINT UNSIGNED NOT NULL,
  bucket SMALLINT UNSIGNED NOT NULL,
  src    BIGINT UNSIGNED NOT NULL,
  ver    BIGINT UNSIGNED NOT NULL,
  state  TINYINT NOT NULL,
  pos    BIGINT NOT NULL,
  ut     DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  PRIMARY KEY (dst, bucket, src),
  KEY newest (dst, state, pos, src)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS log1 (
  id    BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  kind  TINYINT NOT NULL,
  src   BIGINT UNSIGNED NOT NULL,
  dst   BIGINT UNSIGNED NOT NULL,
  ver   BIGINT UNSIGNED NOT NULL,
  state TINYINT NOT NULL,
  pos   BIGINT NOT NULL,
  ts    DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  done  TINYINT NOT NULL DEFAULT 0,
  PRIMARY KEY (id),
  KEY pending (done, id)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS friend_request (
  low      BIGINT UNSIGNED NOT NULL,
  high     BIGINT UNSIGNED NOT NULL,
  ver      BIGINT UNSIGNED NOT NULL,
  state    TINYINT NOT NULL,
  asked_by BIGINT UNSIGNED NOT NULL,
  ut       DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  PRIMARY KEY (low, high)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS repair_log (
  id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  net          VARBINARY(16) NOT NULL,
  cause        VARBINARY(16) NOT NULL,
  src          BIGINT UNSIGNED NOT NULL,
  dst          BIGINT UNSIGNED NOT NULL,
  before_value VARBINARY(64) NOT NULL,
  after_value  VARBINARY(64) NOT NULL,
  ver          BIGINT UNSIGNED NOT NULL,
  at           BIGINT NOT NULL DEFAULT (FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)),
  PRIMARY KEY (id),
  KEY by_time (at)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS user_rel (
  user_id       BIGINT UNSIGNED NOT NULL,
  following_cnt BIGINT NOT NULL DEFAULT 0,
  epoch         BIGINT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS user_fan (
  user_id  BIGINT UNSIGNED NOT NULL,
  fans_cnt BIGINT NOT NULL DEFAULT 0,
  epoch    BIGINT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS recount (
  user_id BIGINT UNSIGNED NOT NULL,
  counter TINYINT NOT NULL,
  at      DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  PRIMARY KEY (user_id, counter),
  KEY oldest (at)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS counter_sweep (
  id         TINYINT UNSIGNED NOT NULL DEFAULT 1,
  began      BIGINT NOT NULL,
  after_user BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS removal_allowance (
  edges  VARBINARY(72) NOT NULL,
  shard  INT UNSIGNED NOT NULL,
  began  BIGINT NOT NULL DEFAULT 0,
  taken  BIGINT UNSIGNED NOT NULL DEFAULT 0,
  opened BIGINT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (edges, shard)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS author_post (
  author_id          BIGINT UNSIGNED NOT NULL,
  post_id            BIGINT UNSIGNED NOT NULL,
  created_at_ms      BIGINT NULL,
  member             VARBINARY(20) NOT NULL,
  deleted            TINYINT NOT NULL DEFAULT 0,
  hidden             TINYINT NOT NULL DEFAULT 0,
  pushed             TINYINT NOT NULL DEFAULT 1,
  visibility_version BIGINT UNSIGNED NOT NULL DEFAULT 0,
  edit_version       BIGINT UNSIGNED NOT NULL DEFAULT 0,
  ut                 DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
                                          ON UPDATE CURRENT_TIMESTAMP(3),
  PRIMARY KEY (author_id, post_id),
  KEY outbox (author_id, pushed, deleted, hidden, created_at_ms DESC, member)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS author (
  author_id BIGINT UNSIGNED NOT NULL,
  last_at   BIGINT NOT NULL,
  PRIMARY KEY (author_id)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS range_owner (
  range_id    INT UNSIGNED NOT NULL,
  epoch       BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (range_id)
) ENGINE = InnoDB;
