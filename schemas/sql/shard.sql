-- The tables of one shard, of which every shard has all: `feedctl init` makes them. Until 1.0.0 is tagged they change
-- here. Afterwards this is the base, and a change is a file of schemas/sql/migrations (docs/upgrades.md).
--
-- Whose rows lie where: shard of a user = shard map of `installation` [crc32(decimal id) mod 1024].
--   by src      following, user_rel, log1, repair_log
--   by reader   mute
--   by dst      follower, user_fan         (dst is the author who is followed)
--   by user     recount
--   of the shard                          log_scan, counter_sweep, tombstone_sweep, forward_restore;
--                                         full_scan and removal_allowance (an application's own
--                                         shards: in turn over ours)
--   by the smaller id of two              friend_request, and its rows of log1
--   by author   author_post, repost, author, author_mode
--   by the range's first bucket            range_owner, range_start
--   on every shard, the same               installation (but for its shard_index), migration
--   on shard 0                             setting
--
-- Ids are unsigned 64-bit, never 0 or 2^64-1. Times named *_ms, pos, last_at, ts and at are Unix
-- milliseconds; `ut` is when the server last wrote the row (UTC) and decides nothing but age.
-- Counters are signed on purpose: a negative one is drift that somebody must see.

-- The installation that this shard belongs to: one row, copied to every shard. Every program
-- compares the copies at its start, and refuses to run when they differ.
CREATE TABLE IF NOT EXISTS installation (
  id             TINYINT UNSIGNED NOT NULL DEFAULT 1,  -- always 1: there is one row
  schema_version INT UNSIGNED NOT NULL,                -- 1: what is kept, and where
  buckets        INT UNSIGNED NOT NULL,                -- 1024
  partitions     INT UNSIGNED NOT NULL,                -- of the tasks topic; divides buckets
  shard_count    INT UNSIGNED NOT NULL,
  shard_index    INT UNSIGNED NOT NULL,                -- which of them this server is, from 0
  shard_map      TEXT NOT NULL,                        -- "0-511:0,512-1023:1": buckets to shards
  generation     BIGINT UNSIGNED NOT NULL,             -- of the tasks topic: offsets of another
                                                       -- generation mean nothing
  feed_topic     VARCHAR(249) NOT NULL,                -- where applications write events
  tasks_topic    VARCHAR(249) NOT NULL,                -- where hints are written
  timeline_window      INT UNSIGNED NOT NULL,          -- W: items a live timeline keeps
  timeline_max_entries INT UNSIGNED NOT NULL,          -- members it never exceeds
  following_limit      INT UNSIGNED NOT NULL,          -- a user follows at most so many
  own_posts            TINYINT NOT NULL DEFAULT 0,     -- 1: home timelines hold the reader's own
  PRIMARY KEY (id),
  CHECK (id = 1)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- What was made on this shard: this file, which is number 0, and files of schemas/sql/migrations.
CREATE TABLE IF NOT EXISTS migration (
  number INT UNSIGNED NOT NULL,                        -- from 0 on, without a gap
  file   VARBINARY(64) NOT NULL,                       -- its name
  at     DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  PRIMARY KEY (number)
) ENGINE = InnoDB;

-- Settings that an operator changes while programs run; programs read them about once a second.
-- Without a row the default holds. mirror_mode: async, sync or log (fanline/ports/operator_modes.h).
-- reconciler: run, dry_run or pause (fanline/ports/operator_modes.h). breaker_closings: the
-- microseconds when `reconciler` last came back to run, each time higher than before.
CREATE TABLE IF NOT EXISTS setting (
  name  VARBINARY(64) NOT NULL,
  value VARBINARY(255) NOT NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB;

-- Forward edges, the truth of who follows whom. A change takes the row's lock, and the version it
-- gives out under that lock is the only order of one edge: max(ver + 1, microseconds of the clock).
-- A change by an application (through Kafka) or by a friendship carries a version given out there,
-- which is kept beside ver. A change whose version is not higher than the kept one was made
-- already: repeated or late, it does nothing. ver cannot tell that, since it comes from our clock.
-- A change of a friendship announces its version to both edges before it commits the pair's row. A
-- later change of an edge by a user or an application settles all versions announced to that edge,
-- also when the row was so already: a mirror that brings the friendship's change to this row
-- afterwards must not undo it.
CREATE TABLE IF NOT EXISTS following (
  src   BIGINT UNSIGNED NOT NULL,
  dst   BIGINT UNSIGNED NOT NULL,
  ver   BIGINT UNSIGNED NOT NULL,
  state TINYINT NOT NULL,                              -- 1 follows, 0 tombstone
  pos   BIGINT NOT NULL,                               -- when src last became a follower
  delivery TINYINT NOT NULL DEFAULT 0,                 -- what the follow brings: 0 all, 1 no reposts,
                                                       -- 2 nothing; of a tombstone 0
  app_version    BIGINT UNSIGNED NOT NULL DEFAULT 0,   -- of the application's last change; 0: none
  friend_version BIGINT UNSIGNED NOT NULL DEFAULT 0,   -- of friend_request, as last applied here
                                                       -- or settled without it
  friend_announced BIGINT UNSIGNED NOT NULL DEFAULT 0, -- of friend_request, the highest that may
                                                       -- still come
  ut    DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  PRIMARY KEY (src, dst),
  KEY newest (src, state, pos, dst, delivery)          -- lists of followed users, newest first; and
                                                       -- whom a rebuild or a pulled page reads
) ENGINE = InnoDB;

-- Reverse edges, which a fan-out reads. A reverse row is written after its forward row is
-- committed, with the same ver, state, pos and delivery. A higher version wins, so a write seen late or twice
-- changes nothing.
-- bucket = bucket of src: the followers of one author in one range of buckets are one slice of the
-- primary key, read page by page in (bucket, src) order.
CREATE TABLE IF NOT EXISTS follower (
  dst    BIGINT UNSIGNED NOT NULL,
  bucket SMALLINT UNSIGNED NOT NULL,
  src    BIGINT UNSIGNED NOT NULL,
  ver    BIGINT UNSIGNED NOT NULL,
  state  TINYINT NOT NULL,
  pos    BIGINT NOT NULL,
  delivery TINYINT NOT NULL DEFAULT 0,                 -- 2: pages of followers leave the row out
  ut     DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  PRIMARY KEY (dst, bucket, src),
  KEY newest (dst, state, pos, src)                    -- lists of followers, newest first
) ENGINE = InnoDB;

-- The authors whom a reader mutes, whether followed or not: pages leave their posts out. A row stays
-- when the last of them is unmuted. Each change gives out the next version: max(version + 1,
-- microseconds of the clock). Live timelines name the version of a row that names anybody.
CREATE TABLE IF NOT EXISTS mute (
  reader_id BIGINT UNSIGNED NOT NULL,
  version   BIGINT UNSIGNED NOT NULL,
  authors   VARBINARY(8000) NOT NULL,                  -- ids ascending, 8 bytes each, big endian
  PRIMARY KEY (reader_id)
) ENGINE = InnoDB;

-- Every change of a forward row, of a friendship or of mutes, written in the change's own
-- transaction. A row is pending until the mirror has written the reverse row (kind 1) or both
-- forward rows (kind 2), has had the timeline told (kind 3), and what follows is acknowledged. Transactions commit in another order than their ids,
-- so a mirror asks for pending rows, never for rows above an id that it has saved. Rows that are
-- done are purged by age. The key `pending` finds the oldest rows that are not done, and those done
-- long ago, without touching the millions between.
CREATE TABLE IF NOT EXISTS log1 (
  id    BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  kind  TINYINT NOT NULL,                              -- 1 edge src -> dst, 2 friendship of both,
                                                       -- 3 mutes of src
  src   BIGINT UNSIGNED NOT NULL,                      -- of a friendship: the smaller id
  dst   BIGINT UNSIGNED NOT NULL,                      -- of mutes: src
  ver   BIGINT UNSIGNED NOT NULL,                      -- of following, friend_request or mute
  state TINYINT NOT NULL,                              -- 1 follows or friends, 0 not; of mutes 1
  pos   BIGINT NOT NULL,
  delivery TINYINT NOT NULL DEFAULT 0,                 -- of following
  ts    DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),  -- when it was written (UTC)
  done  TINYINT NOT NULL DEFAULT 0,
  PRIMARY KEY (id),
  KEY pending (done, id)
) ENGINE = InnoDB;

-- How far the log scan has come in log1 of this shard: one row; none: never begun
-- (fanline/ports/log_scan.h). Rows of log1 above after_id are not purged.
CREATE TABLE IF NOT EXISTS log_scan (
  id       TINYINT UNSIGNED NOT NULL DEFAULT 1,        -- always 1
  after_id BIGINT UNSIGNED NOT NULL,                   -- rows of log1 up to it were compared
  up_to    BIGINT NOT NULL,                            -- so were changes written up to then; the
                                                       -- server's clock
  PRIMARY KEY (id)
) ENGINE = InnoDB;

-- How far the full scan has come in a table of edges (fanline/ports/full_scan.h). No row: never begun.
-- Times are this server's clock. An operator clears `stopped` to have the page compared again, and
-- sets `allowed` to have it repaired, and all that follows (docs/runbooks/relations.md).
CREATE TABLE IF NOT EXISTS full_scan (
  edges        VARBINARY(72) NOT NULL,                 -- following, follower, or forward.<table>
                                                       -- and reverse.<table> of an application
  shard        INT UNSIGNED NOT NULL,                  -- of these rows
  after_owner  BIGINT UNSIGNED NOT NULL DEFAULT 0,     -- rows up to this key were compared: src of
  after_bucket SMALLINT UNSIGNED NOT NULL DEFAULT 0,   -- forward rows, dst of reverse ones; the
  after_member BIGINT UNSIGNED NOT NULL DEFAULT 0,     -- bucket of ours; the other id. 0: not begun
  began        BIGINT NOT NULL DEFAULT 0,              -- the last pass; 0: none has
  compared     BIGINT UNSIGNED NOT NULL DEFAULT 0,     -- rows, by that pass
  passed       BIGINT NOT NULL DEFAULT 0,              -- when a pass last came to the end; 0: none
  proved       BIGINT NOT NULL DEFAULT 0,              -- when the last of those began that read
                                                       -- primaries alone; 0: none
  replica      TINYINT NOT NULL DEFAULT 0,             -- 1: the pass under way has read a replica
  stopped      VARBINARY(255) NOT NULL DEFAULT '',     -- why nothing is compared; '': it goes on
  allowed      TINYINT NOT NULL DEFAULT 0,             -- 1: to the end of this pass it never stops
  PRIMARY KEY (edges, shard)
) ENGINE = InnoDB;

-- What two users have agreed on, one row per pair: the truth of a friendship. A mirror writes the
-- two edges afterwards, from log1, so for a moment one edge may be there and not the other. ver
-- grows with every change, as in following.
CREATE TABLE IF NOT EXISTS friend_request (
  low      BIGINT UNSIGNED NOT NULL,                   -- the smaller id
  high     BIGINT UNSIGNED NOT NULL,
  ver      BIGINT UNSIGNED NOT NULL,
  state    TINYINT NOT NULL,                           -- 1 asked, 2 friends, 3 refused, 4 cancelled,
                                                       -- 5 removed
  asked_by BIGINT UNSIGNED NOT NULL,                   -- low or high
  ut       DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  PRIMARY KEY (low, high)
) ENGINE = InnoDB;

-- One row per repair, never changed, purged by age.
CREATE TABLE IF NOT EXISTS repair_log (
  id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  net          VARBINARY(16) NOT NULL,                 -- what found it: pair, log, scan or
                                                       -- counter
  cause        VARBINARY(16) NOT NULL,                 -- missing, stale, orphan, corrupt, drift, ...
  src          BIGINT UNSIGNED NOT NULL,               -- of a counter: the user, and dst 0
  dst          BIGINT UNSIGNED NOT NULL,
  before_value VARBINARY(64) NOT NULL,
  after_value  VARBINARY(64) NOT NULL,
  ver          BIGINT UNSIGNED NOT NULL,               -- of the edge as repaired; of a counter: epoch
  at           BIGINT NOT NULL DEFAULT (FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)),
  PRIMARY KEY (id),
  KEY by_time (at)
) ENGINE = InnoDB;

-- Counters, changed in the transaction of the row they count, by the row's own transition.
-- No row = 0. epoch counts repairs: a repair worked out before another took effect is refused.
CREATE TABLE IF NOT EXISTS user_rel (
  user_id       BIGINT UNSIGNED NOT NULL,
  following_cnt BIGINT NOT NULL DEFAULT 0,             -- rows of following with state 1
  epoch         BIGINT UNSIGNED NOT NULL DEFAULT 0,
  changes_until BIGINT NOT NULL DEFAULT 0,             -- microseconds of this server's clock: how far
                                                       -- the user's changes reach (change_edge.sql)
  PRIMARY KEY (user_id)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS user_fan (
  user_id  BIGINT UNSIGNED NOT NULL,
  fans_cnt BIGINT NOT NULL DEFAULT 0,                  -- rows of follower with state 1
  epoch    BIGINT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id)
) ENGINE = InnoDB;

-- Counters known to be wrong. The transaction that takes a counter below zero marks it, so that
-- none is forgotten; the sweep marks others. A reconciler's repair (net "counter") removes the
-- mark.
CREATE TABLE IF NOT EXISTS recount (
  user_id BIGINT UNSIGNED NOT NULL,
  counter TINYINT NOT NULL,                            -- 1 following_cnt, 2 fans_cnt
  at      DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  PRIMARY KEY (user_id, counter),
  KEY oldest (at)
) ENGINE = InnoDB;

-- How far the sweep over all counters of this shard has come: one row; none: never begun.
CREATE TABLE IF NOT EXISTS counter_sweep (
  id         TINYINT UNSIGNED NOT NULL DEFAULT 1,      -- always 1
  began      BIGINT NOT NULL,                          -- the server's clock
  after_user BIGINT UNSIGNED NOT NULL,                 -- users up to it were compared; 0: all were
  PRIMARY KEY (id)
) ENGINE = InnoDB;

-- Tombstones of this shard's rows of following that are old enough are collected, each after that of
-- its reverse row (fanline/ports/tombstones.h): one row; none: never begun.
CREATE TABLE IF NOT EXISTS tombstone_sweep (
  id        TINYINT UNSIGNED NOT NULL DEFAULT 1,       -- always 1
  horizon   BIGINT NOT NULL,                           -- what was unfollowed before it may be forgotten,
                                                       -- so what is older than it is refused; only grows
  began     BIGINT NOT NULL DEFAULT 0,                 -- the server's clock; 0: no sweep has begun
  after_src BIGINT UNSIGNED NOT NULL DEFAULT 0,        -- rows up to this one were looked at; 0: all
  after_dst BIGINT UNSIGNED NOT NULL DEFAULT 0,        -- were
  PRIMARY KEY (id)
) ENGINE = InnoDB;

-- How far `feedctl relations restore-forward` has come, which rebuilds the forward rows of this shard
-- from the reverse rows of all shards. Without rows: no restore is under way.
CREATE TABLE IF NOT EXISTS forward_restore (
  reverse_shard INT UNSIGNED NOT NULL,
  dst           BIGINT UNSIGNED NOT NULL,              -- rows of its follower up to this one are passed
  bucket        SMALLINT UNSIGNED NOT NULL,
  src           BIGINT UNSIGNED NOT NULL,
  is_over       TINYINT NOT NULL,                      -- 1: all are passed
  began         BIGINT NOT NULL DEFAULT (FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)),
  PRIMARY KEY (reverse_shard)
) ENGINE = InnoDB;

-- How many followers all reconcilers have removed from one shard of reverse rows. A breaker that is
-- open stays open when they restart (fanline/ports/removal_allowance.h).
CREATE TABLE IF NOT EXISTS removal_allowance (
  edges  VARBINARY(72) NOT NULL,                       -- follower, or app.<an application's table>
  shard  INT UNSIGNED NOT NULL,                        -- of these rows
  began  BIGINT NOT NULL DEFAULT 0,                    -- of the minute counted; this server's clock
  taken  BIGINT UNSIGNED NOT NULL DEFAULT 0,           -- since then
  opened BIGINT UNSIGNED NOT NULL DEFAULT 0,           -- breaker_closings when it opened, plus 1;
                                                       -- 0: never
  PRIMARY KEY (edges, shard)
) ENGINE = InnoDB;

-- The state of every post; bodies are never stored. Sticky: the rule is ApplyEvent in
-- fanline/model/post_state.h. Deleted is final, visibility and edits go by the higher version, the first
-- created_at wins, and a row is kept while any event about it may still arrive. No row reads as a
-- tombstone. Visible = created, not deleted, not hidden.
CREATE TABLE IF NOT EXISTS author_post (
  author_id          BIGINT UNSIGNED NOT NULL,
  post_id            BIGINT UNSIGNED NOT NULL,
  created_at_ms      BIGINT NULL,                      -- NULL: only a delete, hide or edit so far
  deleted            TINYINT NOT NULL DEFAULT 0,
  hidden             TINYINT NOT NULL DEFAULT 0,
  pushed             TINYINT NOT NULL DEFAULT 1,       -- decided once: 0 = merged at read instead
  visibility_version BIGINT UNSIGNED NOT NULL DEFAULT 0,
  edit_version       BIGINT UNSIGNED NOT NULL DEFAULT 0,
  original_id        BIGINT UNSIGNED NULL,             -- what a repost shows, and its author: set
  original_author    BIGINT UNSIGNED NULL,             -- with created_at_ms; NULL: no repost
  ut                 DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
                                          ON UPDATE CURRENT_TIMESTAMP(3),
  PRIMARY KEY (author_id, post_id),
  -- The outbox: visible, pushed items of one author in the order used everywhere (created_at
  -- descending, then post_id descending), read in order without sorting and without the rows.
  KEY outbox (author_id, pushed, deleted, hidden, created_at_ms DESC, post_id DESC, original_id,
              original_author)
) ENGINE = InnoDB;

-- Finds the reposts of a post, by who reposts. What they are stands in author_post alone: a row
-- here whose post is not there, or shows another one, means nothing. Rows of deleted posts are deleted
-- (fanline/ports/reposts.h).
CREATE TABLE IF NOT EXISTS repost (
  original_id BIGINT UNSIGNED NOT NULL,
  author_id   BIGINT UNSIGNED NOT NULL,
  post_id     BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (original_id, author_id, post_id)
) ENGINE = InnoDB;

-- When each author last posted. last_at is never below created_at of a visible post of the author,
-- and it only grows, in the transaction of the post's row. A rebuild reads last_at of a few hundred
-- authors by primary key, and guesses from it how far back its window goes.
CREATE TABLE IF NOT EXISTS author (
  author_id BIGINT UNSIGNED NOT NULL,
  last_at   BIGINT NOT NULL,
  PRIMARY KEY (author_id)
) ENGINE = InnoDB;

-- How new posts of an author reach timelines. Without a row all are pushed, until the author is
-- switched automatically. `pull` decides a post's column `pushed` when the post's row is made.
-- `marked` is never cleared: it is set before the author's first post that is not pushed, and then
-- the live timelines of followers name the author (docs/decisions/0027-authors-merged-at-read.md).
-- `announced`: when all of them were last told. Each such post tells them until that is set, and
-- again the first post published a day later. A row is made by a switch by hand, or by the first
-- estimate of what a post of the author costs
-- (docs/decisions/0030-authors-switched-by-themselves.md).
CREATE TABLE IF NOT EXISTS author_mode (
  author_id BIGINT UNSIGNED NOT NULL,
  pull      TINYINT NOT NULL DEFAULT 0,                -- 1: new posts are merged at read
  marked    TINYINT NOT NULL DEFAULT 0,
  announced BIGINT NOT NULL DEFAULT 0,                 -- this server's clock; 0: never
  by_hand   TINYINT NOT NULL DEFAULT 0,                -- 1: never switched by itself
  version   BIGINT UNSIGNED NOT NULL DEFAULT 0,        -- grows with each change of pull or by_hand
  since     BIGINT NOT NULL DEFAULT 0,                 -- when pull last changed; this server's clock
  live      BIGINT UNSIGNED NOT NULL DEFAULT 0,        -- followers with a live timeline: an estimate
  lag_ms    BIGINT NOT NULL DEFAULT 0,                 -- of the post with which it was estimated
  weighed   BIGINT NOT NULL DEFAULT 0,                 -- when estimated; this server's clock; 0: never
  PRIMARY KEY (author_id)
) ENGINE = InnoDB;

-- Who may write the timelines of a range: the owner holding the highest epoch.
CREATE TABLE IF NOT EXISTS range_owner (
  range_id    INT UNSIGNED NOT NULL,
  epoch       BIGINT UNSIGNED NOT NULL,                -- only grows
  PRIMARY KEY (range_id)
) ENGINE = InnoDB;

-- Unsettled starts of a range's owners: those under way, and crashes. An owner that stops as
-- ordered removes its own start, however late; an owner that lasted removes those of others up to
-- its epoch.
CREATE TABLE IF NOT EXISTS range_start (
  range_id    INT UNSIGNED NOT NULL,
  token       BIGINT UNSIGNED NOT NULL,                -- drawn by the owner, for this start
  epoch       BIGINT UNSIGNED NOT NULL,                -- that it was given
  hint        BIGINT NOT NULL DEFAULT -1,              -- the one it is trying alone; -1: none
  PRIMARY KEY (range_id, token)
) ENGINE = InnoDB;
