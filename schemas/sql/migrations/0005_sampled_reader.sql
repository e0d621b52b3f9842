-- Whose home timelines hold a sample of others' posts (docs/decisions/0031-sampled-readers.md).
CREATE TABLE IF NOT EXISTS sampled_reader (
  reader_id BIGINT UNSIGNED NOT NULL,
  one_in    INT UNSIGNED NOT NULL,
  by_hand   TINYINT NOT NULL DEFAULT 1,
  PRIMARY KEY (reader_id),
  CHECK (one_in > 0 AND one_in & (one_in - 1) = 0)
) ENGINE = InnoDB;
