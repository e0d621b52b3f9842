-- The commonest change in as few statements as it can be: a user follows somebody whose row of
-- `following` was never there. What change_edge does, in one call that commits, for that case only.
--
--   new_ver   microseconds of the caller's clock; pos is the same in milliseconds
--   most      a follow that would make it more followed users than this is refused
--
-- Answers nothing when the edge was made, at new_ver. Otherwise it has changed nothing, answers one
-- row, and asks for a call of change_edge: there is a row of that edge, or the user follows as many
-- as may be.
--
-- Each IF, SET and DECLARE costs about a fortieth of the call, an UPDATE of the counter twice its
-- upsert: that is why this is a procedure of its own. Called as change_edge is.
CREATE OR REPLACE PROCEDURE follow_edge(
  edge_src BIGINT UNSIGNED, edge_dst BIGINT UNSIGNED, new_ver BIGINT UNSIGNED, most BIGINT)
  MODIFIES SQL DATA
BEGIN
  START TRANSACTION;
  -- The counter first, in both procedures: its row's lock puts all changes of one user in line, so
  -- the limit refuses before a row is made that would have to be taken back (change_edge says why).
  INSERT INTO user_rel (user_id, following_cnt) VALUES (edge_src, 1)
    ON DUPLICATE KEY UPDATE following_cnt = following_cnt + (following_cnt < most);
  IF ROW_COUNT() THEN
    -- Takes the exclusive lock of a row that is there, and leaves it as it is.
    INSERT INTO following (src, dst, ver, state, pos)
      VALUES (edge_src, edge_dst, new_ver, 1, new_ver DIV 1000)
      ON DUPLICATE KEY UPDATE ver = ver;
    IF ROW_COUNT() = 1 THEN
      INSERT INTO log1 (kind, src, dst, ver, state, pos)
        VALUES (1, edge_src, edge_dst, new_ver, 1, new_ver DIV 1000);
      COMMIT;
    ELSE
      ROLLBACK;
      SELECT 0;
    END IF;
  ELSE
    ROLLBACK;
    SELECT 0;
  END IF;
END
