-- set_mutes.lua - makes one ready timeline name the version of its reader's mutes, or none. A
-- timeline being built is deleted: its rebuild starts again, and reads them anew.
--
-- KEYS  own:{tag}, live:{tag}, maxfloor:{tag}, the timeline
-- ARGV  epoch, window W, trim above (members), the member that names the version ("" = none)
-- Reply FENCED error: nothing was written; 0 = was not live, or was being built; 1 = done; 2 = was
--       dropped, because Redis is full
-- Idempotent.
local refused = fence(ARGV[1])
if refused then return refused end
local live, maxfloor, key, wanted = KEYS[2], KEYS[3], KEYS[4], ARGV[4]

-- A trim needs F as the last member.
local tail = tail_of(key)
if not tail or is_building(tail) or (tail ~= FLOOR and not cut_behind_floor(key)) then
  drop(key, live)
  return 0
end

if wanted ~= '' and not takes_more(key) then
  drop(key, live)
  return 2
end

local held = mutes_of(key)
if held and held ~= wanted then redis.call('ZREM', key, held) end
if wanted ~= '' and held ~= wanted then
  redis.call('ZADD', key, FIRST, wanted)
  trim(key, maxfloor, redis.call('ZCARD', key), tonumber(ARGV[3]), tonumber(ARGV[2]))
end
return 1
