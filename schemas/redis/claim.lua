-- claim.lua - takes over a range: raises its owner epoch.
--
-- KEYS  own:{tag}, live:{tag}, pos:{tag}
-- ARGV  epoch
-- Reply refused: {the own: found}, when it is not lower than the epoch: nothing was written.
--       claimed: {"0", the epoch of the takeover that completed live: ("0" = it is not complete),
--       pos: ("" = none)}
-- A live: of a wrong type counts as incomplete: the reset that follows deletes it.
-- Not idempotent on purpose: the repetition of a claim that was carried out is refused, and the
-- claim is made again with a higher epoch. So no two owners ever hold the same epoch.
local epoch = ARGV[1]
local held = redis.call('MGET', KEYS[1], KEYS[3])
local own = tonumber(held[1])
if own and own >= tonumber(epoch) then return {held[1]} end
overwrites(KEYS[1])
redis.call('SET', KEYS[1], epoch)
local complete = redis.pcall('ZSCORE', KEYS[2], '#complete')
return {'0', number_behind(type(complete) == 'string' and complete), held[2] or ''}
