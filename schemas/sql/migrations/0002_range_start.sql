-- Starts of a range's owners by name (docs/decisions/0025-starts-are-settled-by-name.md). Pushers of before go on with
-- columns of range_owner, beside those of now.
CREATE TABLE IF NOT EXISTS range_start (
  range_id    INT UNSIGNED NOT NULL,
  token       BIGINT UNSIGNED NOT NULL,
  epoch       BIGINT UNSIGNED NOT NULL,
  hint        BIGINT NOT NULL DEFAULT -1,
  PRIMARY KEY (range_id, token)
) ENGINE = InnoDB;
