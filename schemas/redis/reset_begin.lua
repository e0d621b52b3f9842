-- reset_begin.lua - first step of giving buckets a known state: empties live: of the buckets to
-- drop, marks live: of all as pending, and begins to learn edge: of all. Rebuilds that begin from
-- now on list their readers themselves. The walk over all keys that follows finds the keys of
-- earlier ones.
--
-- KEYS  own:{tag} of each bucket of the range, live:{tag} of each bucket to drop, of each to index,
--       edge:{tag} of each of those
-- ARGV  epoch, buckets of the range, buckets to drop
-- Reply FENCED error, or 1. Idempotent.
local buckets, drops = tonumber(ARGV[2]), tonumber(ARGV[3])
local refused = fence(ARGV[1], buckets)
if refused then return refused end
overwrites(KEYS[1])
local known = (#KEYS - buckets) / 2
for i = 1, known do
  local live = KEYS[buckets + i]
  if i <= drops then redis.call('DEL', live) else redis.call('SREM', live, '#complete') end
  redis.call('SADD', live, '#pending')
  redis.call('SET', KEYS[buckets + known + i], '?0')
end
return 1
