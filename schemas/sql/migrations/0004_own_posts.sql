-- Home timelines may hold the reader's own posts (docs/decisions/0028-ones-own-posts.md).
ALTER TABLE installation ADD COLUMN IF NOT EXISTS own_posts TINYINT NOT NULL DEFAULT 0 AFTER following_limit;
