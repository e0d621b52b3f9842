-- How much a user has changed lately (change_edge, follow_edge).
ALTER TABLE user_rel ADD COLUMN IF NOT EXISTS changes_until BIGINT NOT NULL DEFAULT 0;
