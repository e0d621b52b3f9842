-- One change of a forward edge in one call: follow or unfollow (tables following, log1, user_rel).
-- It makes its own transaction and has committed when it answers: five round trips become one, and
-- the locks of the row and of the counter are held only while the server works, not while a client
-- is away.
--
--   wanted    1 follow, 0 unfollow
--   new_ver   microseconds of the caller's clock, 1 or more; order does not rest on it
--   new_pos   the same in milliseconds
--   origin    0: a user asks now. 1: an application's change, 2: a friendship's, with origin_ver,
--             which must be higher than what the row keeps of that origin
--   most      a follow that would make it more followed users than this is refused
--
-- Answers nothing when all is plain: the edge was changed, at new_ver and new_pos. Otherwise one
-- row: outcome, ver, state, pos (of the row as it is now; ver 0: there is none), below_zero.
--   outcome     0: it was so already, or origin_ver is not higher. 1: changed. 2: over the limit
--   below_zero  1: an unfollow took the counter below zero, so it was wrong before
-- When changed, LAST_INSERT_ID() is its row of log1.
--
-- A follow is as long as its plain way through here, and each statement counts, also SET and
-- DECLARE; a result costs a fifth of the call. That is why the parameters are assigned to.
--
-- Called with autocommit on, no transaction open, and not with CLIENT_FOUND_ROWS, under which
-- ROW_COUNT() takes a row that was so already for a new one. An error leaves the transaction open:
-- the caller rolls back. A deadlock's victim calls again.
CREATE OR REPLACE PROCEDURE change_edge(
  edge_src BIGINT UNSIGNED, edge_dst BIGINT UNSIGNED, wanted TINYINT, new_ver BIGINT UNSIGNED,
  new_pos BIGINT, origin TINYINT, origin_ver BIGINT UNSIGNED, most BIGINT)
  MODIFIES SQL DATA
change_edge: BEGIN
  DECLARE plain, counts TINYINT DEFAULT 1;

  START TRANSACTION;
  IF origin > 0 OR wanted = 0 THEN
    BEGIN
      DECLARE old_ver, seen_ver BIGINT UNSIGNED;
      DECLARE old_state TINYINT;
      DECLARE old_pos BIGINT;
      -- Only where the row is needed in any case: it must not be made and then rolled back. Those
      -- who wait for its lock would be left with gap locks, and deadlock. It takes the exclusive
      -- lock at once; INSERT IGNORE would take a shared one first, and two that upgrade it are a
      -- deadlock nearly every time.
      IF origin > 0 THEN
        INSERT INTO following (src, dst, ver, state, pos) VALUES (edge_src, edge_dst, 0, 0, 0)
          ON DUPLICATE KEY UPDATE ver = ver;
      END IF;
      -- MAX: one row also where there is none; at most one is meant.
      SELECT COALESCE(MAX(ver), 0), COALESCE(MAX(state), 0), COALESCE(MAX(pos), 0),
             COALESCE(MAX(IF(origin = 1, app_version, friend_version)), 0)
        INTO old_ver, old_state, old_pos, seen_ver
        FROM following WHERE src = edge_src AND dst = edge_dst FOR UPDATE;
      IF (origin = 0 AND old_state = 0) OR (origin > 0 AND origin_ver <= seen_ver) THEN
        ROLLBACK;
        SELECT 0, old_ver, old_state, old_pos, 0;
        LEAVE change_edge;
      END IF;
      IF origin > 0 THEN
        -- Kept also where it is so already: an older one may still be on its way.
        UPDATE following SET app_version = IF(origin = 1, origin_ver, app_version),
                             friend_version = IF(origin = 2, origin_ver, friend_version)
          WHERE src = edge_src AND dst = edge_dst;
        IF old_state = wanted AND old_ver > 0 THEN
          COMMIT;
          SELECT 0, old_ver, old_state, old_pos, 0;
          LEAVE change_edge;
        END IF;
      END IF;
      SET counts = old_state <> wanted;
    END;
  END IF;

  -- Lock or create, compare and write in one statement. state is assigned last: what stands before
  -- it asks what it was. ver 0 is a row made above: a tombstone that keeps origin_ver is a change.
  INSERT INTO following (src, dst, ver, state, pos)
    VALUES (edge_src, edge_dst, new_ver, wanted, new_pos)
    ON DUPLICATE KEY UPDATE
      pos = IF(state = wanted OR wanted = 0, pos, VALUES(pos)),
      ver = IF(state = wanted AND ver > 0, ver, GREATEST(ver + 1, VALUES(ver))),
      state = wanted;
  IF ROW_COUNT() <> 1 THEN  -- 1 created, 2 changed, 0 it was so already
    BEGIN
      DECLARE touched TINYINT DEFAULT ROW_COUNT();
      SELECT ver, pos, 0 INTO new_ver, new_pos, plain
        FROM following WHERE src = edge_src AND dst = edge_dst;
      IF touched = 0 THEN
        ROLLBACK;
        SELECT 0, new_ver, wanted, new_pos, 0;
        LEAVE change_edge;
      END IF;
    END;
  END IF;
  INSERT INTO log1 (kind, src, dst, ver, state, pos)
    VALUES (1, edge_src, edge_dst, new_ver, wanted, new_pos);

  -- The counter is last, so that its lock is held only briefly.
  UPDATE user_rel SET following_cnt = following_cnt + IF(wanted, 1, -1)
    WHERE user_id = edge_src AND counts AND IF(wanted, following_cnt < most, following_cnt > 0);
  IF ROW_COUNT() = 0 AND counts THEN  -- no row yet, over the limit, or below zero
    BEGIN
      DECLARE old_count BIGINT;
      INSERT INTO user_rel (user_id) VALUES (edge_src) ON DUPLICATE KEY UPDATE user_id = user_id;
      SELECT following_cnt INTO old_count FROM user_rel WHERE user_id = edge_src FOR UPDATE;
      IF wanted AND old_count >= most THEN
        ROLLBACK;
        SELECT 2, 0, 0, 0, 0;
        LEAVE change_edge;
      END IF;
      -- Also below zero: a repair adds what is missing, and would add it twice if this were not
      -- counted.
      UPDATE user_rel SET following_cnt = following_cnt + IF(wanted, 1, -1)
        WHERE user_id = edge_src;
      IF old_count <= 0 AND NOT wanted THEN SET plain = 2; END IF;
    END;
  END IF;
  COMMIT;
  IF plain <> 1 THEN
    SELECT 1, new_ver, wanted, new_pos, plain = 2;
  END IF;
END
