-- rebuild_abandon.lua - gives up a building timeline whose rebuild cannot go on. So the next visit
-- begins another at once, without waiting for the key's TTL.
--
-- KEYS  live:{tag}, the timeline
-- ARGV  token
-- Reply 1; 0 = the token is gone: nothing was written. Idempotent.
local live, key = KEYS[1], KEYS[2]
if not redis.call('ZSCORE', key, rebuild_member(ARGV[1])) then return 0 end
drop(key, live)
return 1
