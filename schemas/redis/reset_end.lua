-- reset_end.lua - last step: after a walk over all keys, marks live: as complete and maxfloor: as
-- known. A takeover names the position below which the range's timelines agree with every hint, and
-- pos: is set to it. A quarantine names none: save_position may move pos: during the walk.
--
-- KEYS  own:{tag}, pos:{tag}, and after a walk live:{tag}, maxfloor:{tag}, a key that never exists
-- ARGV  epoch, position or nothing
-- Reply FENCED error: nothing was written; 0 = nothing was written: the index is not the one that
--       reset_begin marked as pending; else 1. Idempotent.
-- The key that never exists keeps the script from running while a Cluster's slot is between two
-- nodes: timelines that moved during the walk were seen by no SCAN.
-- A live: that was deleted during the walk (by hand) lacks the readers listed before. It must not
-- count as complete, so the reset starts again. The mark names no owner: the epoch fences another
-- owner's reset, and one owner runs one reset of a range at a time.
local refused = fence(ARGV[1])
if refused then return refused end
overwrites(KEYS[1])
local live, maxfloor = KEYS[3], KEYS[4]
if live then
  local marks = redis.call('SMISMEMBER', live, '#pending', '#complete')
  if marks[1] + marks[2] == 0 then return 0 end
  redis.call('SREM', live, '#pending')
  redis.call('SADD', live, '#complete')
  local bound = string.match(redis.call('MGET', maxfloor)[1] or '', '^%?(%d+)$')
  if bound then redis.call('SET', maxfloor, bound) end
end
if ARGV[2] ~= '' then redis.call('SET', KEYS[2], ARGV[2]) end
return 1
