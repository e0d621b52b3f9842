-- The commonest change in as few statements as possible: a user follows somebody, and the edge has
-- no row yet. Does what change_edge does for that case only, in one call that commits.
--
--   new_ver   microseconds of the caller's clock; pos is the same in milliseconds
--   most      the most users that src may follow; a follow beyond is refused
--   part      what a change takes of an hour, in microseconds (change_edge says how much that is)
--   room      an hour less two parts: a change is allowed if changes_until is at most so far above
--             the end of a part that begins now
-- Answers nothing: the edge was made, at new_ver. Otherwise it fails, and the caller, who rolls
-- back, calls change_edge:
--   1048  NULL for a column: the user follows as many as allowed, has changed as much as an hour
--         allows, or changes_until is further ahead
--   1062  duplicate key: the edge has a row
-- This is a separate procedure since each IF, SET and DECLARE costs about a fortieth of the call,
-- a user variable as much, and an UPDATE of the counter twice its upsert. An error costs only those
-- who meet it. Call it like change_edge. NULL is refused in every sql_mode; a procedure has that in
-- which it was made, not its caller's.
CREATE /*M! OR REPLACE */ PROCEDURE follow_new_edge(
  edge_src BIGINT UNSIGNED, edge_dst BIGINT UNSIGNED, new_ver BIGINT UNSIGNED, most BIGINT,
  part BIGINT, room BIGINT)
  MODIFIES SQL DATA
  SQL SECURITY INVOKER
BEGIN
  START TRANSACTION;
  -- The counter comes first in both procedures. Its row's lock orders all changes of one user, so
  -- both limits refuse before a row is made that would be rolled back (see change_edge).
  INSERT INTO user_rel (user_id, following_cnt, changes_until)
    VALUES (edge_src, 1, UNIX_TIMESTAMP() * 1000000 + part)
    ON DUPLICATE KEY UPDATE
      following_cnt = following_cnt
        + IF(following_cnt < most AND changes_until <= VALUES(changes_until) + room, 1, NULL),
      changes_until = GREATEST(changes_until + part, VALUES(changes_until));
  INSERT INTO following (src, dst, ver, state, pos)
    VALUES (edge_src, edge_dst, new_ver, 1, new_ver DIV 1000);
  INSERT INTO log1 (kind, src, dst, ver, state, pos)
    VALUES (1, edge_src, edge_dst, new_ver, 1, new_ver DIV 1000);
  COMMIT;
END
