-- rebuild_finish.lua - turns a building timeline into a ready one. Takes the items read from the
-- truth, without those removed meanwhile, and those pushed meanwhile. Keeps the newest W that are
-- not older than the floor, and while there is room the items of the same moment as the last of
-- these.
-- Marks are those of the key and those read: who ceased to follow meanwhile has no key any more.
--
-- KEYS  maxfloor:{tag}, the timeline
-- ARGV  token, floor as a score (+inf = nothing older exists), window W, most items, TTL
--       in milliseconds, TTL of a timeline without an item or mark, most marks, number of marks,
--       marks, then (score, member) of each item read
-- Reply 1; 0 = the token is gone (expired, deleted, another rebuild): start again.
-- The key is written afresh in pieces, T and F with the first, and then the oldest item first: in a
-- listpack the place of each next one is the head, which is found at once. Newest first, a window of
-- 450 took Redis six times as long. A full Redis refuses the first write of the script; then the key
-- is deleted, and OOM is the answer: a ready timeline is whole or not there.
-- A removal record concerns only items read from the truth. An item in the key was added after it.
local maxfloor, key, window = KEYS[1], KEYS[2], tonumber(ARGV[3])
if not redis.call('ZSCORE', key, 'B:' .. ARGV[1]) then return 0 end

local refused = redis.pcall('ZADD', key, '-inf', 'T')  -- is there: changes nothing
if type(refused) == 'table' then
  redis.call('DEL', key)
  return refused
end

local score_of, gone, marked, marks = {}, {}, {}, {}
local function mark(member)
  if marked[member] then return end
  marked[member] = true
  marks[#marks + 1] = member
end
local held = redis.call('ZRANGE', key, '0', '-1', 'WITHSCORES')
for i = 1, #held, 2 do
  local first = string.byte(held[i])
  if first == 88 then gone[string.sub(held[i], 2)] = true end
  if first == 65 then mark(held[i]) end
  if first >= 48 and first <= 57 then score_of[held[i]] = held[i + 1] end
end
local last_mark = 8 + tonumber(ARGV[8])
for i = 9, last_mark do mark(ARGV[i]) end
if #marks > tonumber(ARGV[7]) then marks = {'A'} end
local most = tonumber(ARGV[4]) - #marks
window = math.max(1, math.min(window, most))

for i = last_mark + 1, #ARGV, 2 do
  if not gone[ARGV[i + 1]] and not score_of[ARGV[i + 1]] then score_of[ARGV[i + 1]] = ARGV[i] end
end

local floor = ARGV[2]
local limit = floor == '+inf' and math.huge or tonumber(floor)
local items = {}
for member, score in pairs(score_of) do
  local number = tonumber(score)
  if number <= limit then items[#items + 1] = {number, member, score} end
end
table.sort(items, function(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  return a[2] < b[2]
end)
-- Items of the floor's own moment are not served, so the floor stands between two moments if it
-- can. Among too many of one moment it stands in their midst. Those that were read stay, as a trim
-- leaves them: else so short a timeline would be dropped at each removal.
local last = math.min(#items, window)
while items[last + 1] and items[last + 1][1] == items[window][1] do last = last + 1 end
if last > most then last = window end
if items[last + 1] then floor = items[last + 1][3] end
note_floor(maxfloor, floor)

redis.call('DEL', key)
local words = {'-inf', 'T', floor, 'F'}
for i = 1, #marks do
  words[#words + 1] = '-inf'
  words[#words + 1] = marks[i]
end
for i = last, 1, -1 do
  words[#words + 1] = items[i][3]
  words[#words + 1] = items[i][2]
  if #words >= 256 then
    redis.call('ZADD', key, unpack(words))
    words = {}
  end
end
if #words > 0 then redis.call('ZADD', key, unpack(words)) end
redis.call('PEXPIRE', key, (last > 0 or #marks > 0) and ARGV[5] or ARGV[6])
return 1
