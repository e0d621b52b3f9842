-- save_position.lua - moves the applied position of a range on, by compare-and-set.
--
-- KEYS  own:{tag} of each bucket of the range, pos:{tag} of each
-- ARGV  epoch, buckets, expected position, next position ("generation:offset")
-- Reply FENCED error; 0 = some bucket holds neither of the two: Redis was rolled back under us,
--       no position was written; 1 = all hold `next`. Idempotent: `next` is accepted as found.
local buckets = tonumber(ARGV[2])
local refused = fence(ARGV[1], buckets)
if refused then return refused end
local found = redis.call('MGET', unpack(KEYS, buckets + 1, 2 * buckets))
for i = 1, buckets do
  if found[i] ~= ARGV[3] and found[i] ~= ARGV[4] then return 0 end
end
overwrites(KEYS[1])
for i = buckets + 1, 2 * buckets do redis.call('SET', KEYS[i], ARGV[4]) end
return 1
