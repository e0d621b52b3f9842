-- reset_end.lua - last step, after the walk over all keys: the indexes are complete, the edges
-- known. At a takeover the timelines of the whole range agree with everything below the position; a
-- quarantine names no position, and leaves pos: to save_position, which may move it during the walk.
--
-- KEYS  own:{tag} of each bucket of the range, pos:{tag} of each, live:{tag} of each bucket that
--       was dropped or indexed, edge:{tag} of each of those
-- ARGV  epoch, buckets of the range, position or nothing
-- Reply FENCED error: nothing was written; 0 = nothing was written: some index is not the one that
--       reset_begin marked as pending; else 1. Idempotent.
-- An index that was deleted during the walk (by hand) lacks those listed before: it must not count
-- as complete, so the reset is begun anew. The mark needs no name of its own: another owner's reset
-- is told apart by the epoch, and one owner resets a range once at a time.
local buckets = tonumber(ARGV[2])
local refused = fence(ARGV[1], buckets)
if refused then return refused end
overwrites(KEYS[1])
local known = (#KEYS - 2 * buckets) / 2
for i = 2 * buckets + 1, 2 * buckets + known do
  local marks = redis.call('SMISMEMBER', KEYS[i], '#pending', '#complete')
  if marks[1] + marks[2] == 0 then return 0 end
end
for i = 2 * buckets + 1, 2 * buckets + known do
  redis.call('SREM', KEYS[i], '#pending')
  redis.call('SADD', KEYS[i], '#complete')
  local bound = string.match(redis.call('MGET', KEYS[i + known])[1] or '', '^%?(%d+)$')
  if bound then redis.call('SET', KEYS[i + known], bound) end
end
if ARGV[3] ~= '' then
  for i = buckets + 1, 2 * buckets do redis.call('SET', KEYS[i], ARGV[3]) end
end
return 1
