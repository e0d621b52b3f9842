-- claim.lua - takes over a range: raises the owner epoch of all its buckets, or of none.
--
-- KEYS  own:{tag} of each bucket, live:{tag} of each, pos:{tag} of each
-- ARGV  epoch, buckets
-- Reply refused: {highest own: found}, when one is not lower than the epoch: nothing was written.
--       claimed: {"0", then per bucket "1" or "0" (its live: is complete) and its pos: ("" = none)}
-- Not idempotent on purpose: a claim of unknown fate is tried again with a higher epoch, so that
-- no two owners ever hold the same one.
local epoch, buckets = ARGV[1], tonumber(ARGV[2])
local owners = redis.call('MGET', unpack(KEYS, 1, buckets))
local highest = 0
for i = 1, buckets do
  local own = tonumber(owners[i])
  if own and own >= tonumber(epoch) and own > highest then
    highest = own
    owners.refused_by = owners[i]
  end
end
if owners.refused_by then return {owners.refused_by} end

local positions = redis.call('MGET', unpack(KEYS, 2 * buckets + 1, 3 * buckets))
local reply = {'0'}
overwrites(KEYS[1])
for i = 1, buckets do
  redis.call('SET', KEYS[i], epoch)
  reply[2 * i] = tostring(redis.call('SISMEMBER', KEYS[buckets + i], '#complete'))
  reply[2 * i + 1] = positions[i] or ''
end
return reply
