-- reset_end.lua - last step: after a walk over all keys, marks maxfloor: as known. A takeover also
-- marks live: as complete, by its epoch, and names the position below which the range's timelines
-- agree with every hint; pos: is set to it. A quarantine names none: save_position may move pos:
-- during the walk, and live: is as complete as it was.
--
-- KEYS  own:{tag}, pos:{tag}, and after a walk live:{tag}, maxfloor:{tag}, a key that never exists
-- ARGV  epoch, position or nothing
-- Reply FENCED error: nothing was written; 0 = nothing was written: the index is not the one that
--       reset_begin marked as pending; else 1. Idempotent.
-- The key that never exists keeps the script from running while a Cluster's slot is between two
-- nodes: timelines that moved during the walk were seen by no SCAN.
-- A live: that was deleted during the walk (by hand) lacks the readers listed before. It must not
-- count as complete, so the reset starts again. #pending names no owner: the epoch fences another
-- owner's reset, and one owner runs one reset of a range at a time.
local refused = fence(ARGV[1])
if refused then return refused end
overwrites(KEYS[1])
local live, maxfloor, takeover = KEYS[3], KEYS[4], ARGV[2] ~= ''
if live and takeover then
  local marks = redis.call('ZMSCORE', live, '#pending', '#complete')
  if not marks[1] and not marks[2] then return 0 end
  redis.call('ZREM', live, '#pending')
  redis.call('ZADD', live, '-' .. ARGV[1], '#complete')
end
if live then
  local bound = string.match(redis.call('MGET', maxfloor)[1] or '', '^%?(%d+)$')
  if bound then redis.call('SET', maxfloor, bound) end
end
if takeover then redis.call('SET', KEYS[2], ARGV[2]) end
return 1
