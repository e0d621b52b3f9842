-- How posts of an author reach timelines (docs/decisions/0027-authors-merged-at-read.md).
CREATE TABLE IF NOT EXISTS author_mode (
  author_id BIGINT UNSIGNED NOT NULL,
  pull      TINYINT NOT NULL DEFAULT 0,
  marked    TINYINT NOT NULL DEFAULT 0,
  announced BIGINT NOT NULL DEFAULT 0,
  by_hand   TINYINT NOT NULL DEFAULT 0,
  version   BIGINT UNSIGNED NOT NULL DEFAULT 0,
  since     BIGINT NOT NULL DEFAULT 0,
  live      BIGINT UNSIGNED NOT NULL DEFAULT 0,
  lag_ms    BIGINT NOT NULL DEFAULT 0,
  weighed   BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (author_id),
  KEY pulled (pull, by_hand)
) ENGINE = InnoDB;
