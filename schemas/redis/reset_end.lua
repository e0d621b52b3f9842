-- reset_end.lua - last step, after the walk over all keys: marks each live: as complete and each
-- edge: as known. A takeover names the position below which the range's timelines agree with every
-- hint, and pos: is set to it. A quarantine names none: save_position may move pos: during the
-- walk.
--
-- KEYS  own:{tag} of each bucket of the range, pos:{tag} of each, live:{tag} of each bucket that
--       was dropped or indexed, edge:{tag} of each of those
-- ARGV  epoch, buckets of the range, position or nothing
-- Reply FENCED error: nothing was written; 0 = nothing was written: some index is not the one that
--       reset_begin marked as pending; else 1. Idempotent.
-- A live: that was deleted during the walk (by hand) lacks the readers listed before. It must not
-- count as complete, so the reset begins anew. The mark names no owner: the epoch fences another
-- owner's reset, and one owner runs one reset of a range at a time.
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
