-- reset_page.lua - second step, once per page of keys found by SCAN: deletes timelines, lists the
-- others in live:, numbered anew as by a rebuild, and notes their floors.
--
-- KEYS  own:{tag}, live:{tag}, maxfloor:{tag}, the timelines to drop, those to list
-- ARGV  epoch, how many to drop
-- Reply FENCED error: nothing was written; else the number of timelines deleted. Idempotent: SCAN
--       may name a key twice.
local refused = fence(ARGV[1])
if refused then return refused end
overwrites(KEYS[1])
local live, maxfloor = KEYS[2], KEYS[3]
local deleted, last = 0, 3 + tonumber(ARGV[2])
for k = 4, #KEYS do
  local reader = string.match(KEYS[k], ':(%d+)$')
  if k <= last then
    deleted = deleted + redis.call('UNLINK', KEYS[k])
    redis.pcall('ZREM', live, reader)  -- may be of a wrong type, where no takeover made it anew
  elseif redis.call('EXISTS', KEYS[k]) == 1 then
    announce(live, reader)
    local floor = redis.pcall('ZSCORE', KEYS[k], FLOOR)
    if type(floor) == 'string' then note_floor(maxfloor, floor) end
  end
end
return deleted
