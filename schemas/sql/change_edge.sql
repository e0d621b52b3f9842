-- One change of a forward edge in one call: follow, unfollow, or another choice of what a follow
-- brings (tables following, log1, user_rel).
-- It makes its own transaction and has committed when it answers. Seven round trips become one, and
-- the locks of row and counter are held only while the server works, not while a client is away.
-- Most follows do not come here: follow_new_edge serves those that meet no row.
--
--   wanted    1 follow, 0 unfollow, 2 follow only if it is followed (of origin 0): only the choice
--             changes, and nothing that was announced of a friendship is settled
--   choice    what the follow brings (following.delivery); -1: as it is, all of a new follow. An
--             unfollow makes it 0
--   new_ver   microseconds of the caller's clock, 1 or more; order does not rest on it
--   new_pos   the same in milliseconds
--   origin    0: a user asks now. 1: an application's change. 2: a friendship's change.
--             1 and 2 carry origin_ver, which must be higher than what the row keeps of that
--             origin. 0 and 1 settle the friendship's changes announced before: those still on
--             their way to this row do nothing any more.
--             3: a repair, which writes `wanted` and new_pos at origin_ver (given as new_ver too).
--             origin_ver must be higher than the row's ver
--   most      the most users that src may follow; a follow beyond is refused. In an hour a user
--             (origin 0) may change a twelfth of it, or 400 if that is more: each change takes its
--             part of an hour, and all that was taken may reach an hour ahead of this server's clock
--             (user_rel.changes_until). What reaches further was taken by a clock that was ahead. It
--             refuses nothing, and the next change sets it to an hour
--
-- Answers one row: outcome, ver, state, pos, delivery (of the row as it is now; ver 0: there is
-- none), below_zero, wait.
--   outcome     0: it was so already, or origin_ver is not higher. 1: changed. 2: over the limit.
--               3: the user has changed as much as an hour allows
--   wait        of outcome 3: seconds until the next change is allowed
--   below_zero  1: an unfollow took the counter below zero. It was wrong before, and is marked in
--               table recount
-- Call it with autocommit on, no transaction open, and without CLIENT_FOUND_ROWS, under which
-- ROW_COUNT() counts unchanged rows as changed. An error leaves the transaction open: the caller
-- rolls back. A deadlock's victim calls again.
-- INVOKER: it has the rights of its caller, so a read-only server refuses it, also where it would
-- change nothing: it reads under locks. With the rights of its definer, an administrator, it would
-- write to what was the primary.
CREATE /*M! OR REPLACE */ PROCEDURE change_edge(
  edge_src BIGINT UNSIGNED, edge_dst BIGINT UNSIGNED, wanted TINYINT, choice TINYINT,
  new_ver BIGINT UNSIGNED, new_pos BIGINT, origin TINYINT, origin_ver BIGINT UNSIGNED, most BIGINT)
  MODIFIES SQL DATA
  SQL SECURITY INVOKER
change_edge: BEGIN
  DECLARE old_ver, seen_ver BIGINT UNSIGNED;
  DECLARE old_state, old_choice TINYINT;
  DECLARE old_pos, followed, taken, wait BIGINT;
  DECLARE clock BIGINT DEFAULT UNIX_TIMESTAMP() * 1000000;
  DECLARE below_zero, settles, same TINYINT DEFAULT 0;

  START TRANSACTION;
  -- The counter's lock first, as in follow_new_edge; no row, no lock.
  SELECT COALESCE(MAX(following_cnt), 0),
         IF(MAX(changes_until) > clock + 3600000000, clock + 3600000000,
            GREATEST(COALESCE(MAX(changes_until), 0), clock)
            + IF(origin = 0, 3600000000 DIV GREATEST(400, most DIV 12), 0))
    INTO followed, taken FROM user_rel WHERE user_id = edge_src FOR UPDATE;
  SET wait = IF(origin = 0, taken - clock - 3600000000, 0);
  -- Only if the row is needed in any case: a row that is made and rolled back leaves waiters for
  -- its lock with gap locks, and they deadlock. The upsert takes the exclusive lock at once. INSERT
  -- IGNORE would take a shared one first, and two calls that upgrade it deadlock nearly always.
  IF IF(wanted, wanted = 1 AND followed < most AND wait <= 0, origin > 0) THEN
    INSERT INTO following (src, dst, ver, state, pos) VALUES (edge_src, edge_dst, 0, 0, 0)
      ON DUPLICATE KEY UPDATE ver = ver;
  END IF;
  -- MAX gives one row even if the edge has none; it never has two.
  SELECT COALESCE(MAX(ver), 0), COALESCE(MAX(state), 0), COALESCE(MAX(pos), 0),
         COALESCE(MAX(delivery), 0),
         COALESCE(MAX(CASE origin WHEN 1 THEN app_version WHEN 2 THEN friend_version ELSE ver END),
                  0),
         COALESCE(MAX(friend_announced > friend_version), 0) AND wanted < 2
    INTO old_ver, old_state, old_pos, old_choice, seen_ver, settles
    FROM following WHERE src = edge_src AND dst = edge_dst FOR UPDATE;
  IF wanted = 2 THEN
    SET wanted = old_state;
  END IF;
  SET choice = IF(wanted, IF(choice < 0, IF(old_state, old_choice, 0), choice), 0);
  SET same = old_state = wanted AND old_choice = choice;
  IF IF(origin = 0, same AND NOT settles, origin_ver <= seen_ver) THEN
    ROLLBACK;
    SELECT 0, old_ver, old_state, old_pos, old_choice, 0, 0;
    LEAVE change_edge;
  END IF;
  IF wanted AND old_state = 0 AND followed >= most THEN
    ROLLBACK;
    SELECT 2, 0, 0, 0, 0, 0, 0;
    LEAVE change_edge;
  END IF;
  -- A call that only settles takes no part of the hour.
  IF wait > 0 AND NOT same THEN
    ROLLBACK;
    SELECT 3, 0, 0, 0, 0, 0, (wait + 999999) DIV 1000000;
    LEAVE change_edge;
  END IF;
  IF origin < 3 AND (origin > 0 OR settles) THEN
    -- The version is kept even if the state stays: an older change may still be on its way.
    UPDATE following SET app_version = IF(origin = 1, origin_ver, app_version),
                         friend_version = IF(origin = 2, origin_ver,
                                             GREATEST(friend_version, friend_announced))
      WHERE src = edge_src AND dst = edge_dst;
    -- ver 0 is a row made above: a tombstone that keeps origin_ver is a change.
    IF same AND old_ver > 0 THEN
      COMMIT;
      SELECT 0, old_ver, old_state, old_pos, old_choice, 0, 0;
      LEAVE change_edge;
    END IF;
  END IF;

  SET new_ver = GREATEST(old_ver + 1, new_ver),
      new_pos = IF(wanted > old_state OR origin = 3, new_pos, old_pos);
  UPDATE following SET ver = new_ver, state = wanted, pos = new_pos, delivery = choice
    WHERE src = edge_src AND dst = edge_dst;
  INSERT INTO log1 (kind, src, dst, ver, state, pos, delivery)
    VALUES (1, edge_src, edge_dst, new_ver, wanted, new_pos, choice);
  -- The counter may go below zero. If this change were not counted, a repair would add the missing
  -- part twice.
  IF NOT same THEN
    INSERT INTO user_rel (user_id, following_cnt, changes_until)
      VALUES (edge_src, wanted - old_state, taken)
      ON DUPLICATE KEY UPDATE following_cnt = following_cnt + VALUES(following_cnt),
                              changes_until = VALUES(changes_until);
    IF wanted < old_state THEN
      SELECT following_cnt < 0 INTO below_zero FROM user_rel WHERE user_id = edge_src;
      IF below_zero THEN
        INSERT INTO recount (user_id, counter) VALUES (edge_src, 1)
          ON DUPLICATE KEY UPDATE user_id = user_id;
      END IF;
    END IF;
  END IF;
  COMMIT;
  SELECT 1, new_ver, wanted, new_pos, choice, below_zero, 0;
END
