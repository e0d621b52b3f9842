-- reset_page.lua - second step, once per page of keys found by SCAN: deletes the timelines of
-- buckets to drop, lists those of buckets to index and notes their floors.
--
-- KEYS  own:{tag} of each bucket, live:{tag} of each, edge:{tag} of each, then the timelines found,
--       grouped by bucket
-- ARGV  epoch, buckets, per bucket: how many timelines, negative = drop them, positive = index them
-- Reply FENCED error: nothing was written; else the number of timelines deleted. Idempotent: SCAN
--       may name a key twice.
local buckets = tonumber(ARGV[2])
local refused = fence(ARGV[1], buckets)
if refused then return refused end
overwrites(KEYS[1])
local deleted, k = 0, 3 * buckets
for b = 1, buckets do
  local live, edge = KEYS[buckets + b], KEYS[2 * buckets + b]
  local count = tonumber(ARGV[2 + b])
  for _ = 1, math.abs(count) do
    k = k + 1
    local reader = string.match(KEYS[k], ':(%d+)$')
    if count < 0 then
      deleted = deleted + redis.call('UNLINK', KEYS[k])
      redis.call('SREM', live, reader)
    elseif redis.call('EXISTS', KEYS[k]) == 1 then
      redis.call('SADD', live, reader)
      local floor = redis.pcall('ZSCORE', KEYS[k], 'F')
      if type(floor) == 'string' then note_floor(edge, floor) end
    end
  end
end
return deleted
