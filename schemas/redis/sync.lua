-- sync.lua - makes one ready timeline agree with one author: marks or unmarks the author, takes out
-- every item of the author, of any kind, that is not among those named, adds of these what is newer
-- than the floor, then raises the floor. A timeline being built is deleted: its rebuild starts again.
--
-- KEYS  own:{tag}, live:{tag}, maxfloor:{tag}, the timeline
-- ARGV  epoch, window W, trim above (members), least items (W/2), adds per piece,
--       floor to reach as a score ("" = leave it), most marks, the author's mark, his mark without
--       reposts, which of the two is to be there (0 = none), the author as items have it, then
--       (score, member) of each item that must be there, newest first. What may be there besides is
--       not newer than the floor to reach.
-- Reply FENCED error: nothing was written; 0 = was not live, or was being built; 1 = done; 2 = was
--       dropped, because Redis is full
-- Adds go in pieces, each followed by a trim, so that the number of members never passes
-- zset-max-listpack-entries. Idempotent: sorted sets add and remove once, the floor only rises.
local refused = fence(ARGV[1])
if refused then return refused end
local live, maxfloor, key = KEYS[2], KEYS[3], KEYS[4]
local window, trim_above, least = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local piece, reach, author, FIRST_ITEM = 2 * tonumber(ARGV[5]), ARGV[6], ARGV[11], 12

-- Items pushed behind the floor in between are cut, so that F is the last member from here on.
local tail = tail_of(key)
if not tail or is_building(tail) or (tail ~= FLOOR and not cut_behind_floor(key)) then
  drop(key, live)
  return 0
end

if not takes_more(key) then
  drop(key, live)
  return 2
end

local mark = ({ARGV[8], ARGV[9]})[tonumber(ARGV[10])]
for i = 8, 9 do
  if ARGV[i] ~= mark then redis.call('ZREM', key, ARGV[i]) end
end
if mark then
  redis.call('ZADD', key, FIRST, mark)
  bound_marks(key, tonumber(ARGV[7]))
  trim(key, maxfloor, redis.call('ZCARD', key), trim_above, window)
end

local wanted, gone = {}, {}
for i = FIRST_ITEM, #ARGV, 2 do wanted[ARGV[i + 1]] = true end
for _, member in ipairs(redis.call('ZRANGE', key, '0', '-1')) do
  if is_item(member) and author_of(member) == author and not wanted[member] then
    gone[#gone + 1] = member
  end
end
if #gone > 0 then redis.call('ZREM', key, unpack(gone)) end

local floor = tonumber(redis.call('ZSCORE', key, FLOOR)) or math.huge
for first = FIRST_ITEM, #ARGV, piece do
  local words = {}
  for i = first, math.min(first + piece, #ARGV) - 1, 2 do
    if tonumber(ARGV[i]) < floor then
      words[#words + 1] = ARGV[i]
      words[#words + 1] = ARGV[i + 1]
    end
  end
  if #words == 0 then break end
  redis.call('ZADD', key, unpack(words))
  if trim(key, maxfloor, redis.call('ZCARD', key), trim_above, window) then
    floor = tonumber(redis.call('ZSCORE', key, FLOOR))
  end
end

if reach ~= '' and tonumber(reach) < floor then
  note_floor(maxfloor, reach)
  redis.call('ZADD', key, reach, FLOOR)
  cut_behind_floor(key)
end
if (#gone > 0 or reach ~= '') and falls_short(key, least) then drop(key, live) end
return 1
