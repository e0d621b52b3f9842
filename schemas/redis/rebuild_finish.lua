-- rebuild_finish.lua - turns a building timeline into a ready one. Takes the items read from the
-- truth, without those removed meanwhile, and those pushed meanwhile. Keeps the newest W that are
-- not older than the floor, and while there is room the items of the same moment as the last of
-- these.
-- Marks are those of the key and those read: a reader who unfollowed meanwhile has no key any more,
-- nor has one whose mutes changed.
--
-- KEYS  maxfloor:{tag}, the timeline
-- ARGV  token, floor as a score (+inf = nothing older exists), window W, most items, TTL
--       in milliseconds, TTL of a timeline without an item, mark or mutes, most marks, the member that
--       names the version of the reader's mutes ("" = none), number of marks, marks, then (score, member) of each item read, newest first
-- Reply 1; 0 = start again: the token is gone (expired, deleted, another rebuild), or removals have left
--       fewer than W/2 items above a floor, and the key was deleted.
-- The key is written afresh in pieces, T and F with the first. A full Redis refuses the first write
-- of the script; then the key is deleted, and OOM is the answer: a ready timeline is whole or not
-- there.
-- A listpack is searched for each member that is added: a window of 450 would take Redis three
-- times as long. So LONG, a member that no listpack takes, makes a long timeline a skiplist while
-- it is written, and ZUNIONSTORE copies it into the configured form. An ACL may forbid that: then
-- items are written oldest first, since the place of each next one is the head of the listpack,
-- which is found at once. A removal record concerns only items read from the truth. An item in the
-- key was added after it.
local maxfloor, key, window = KEYS[1], KEYS[2], tonumber(ARGV[3])
if not redis.call('ZSCORE', key, rebuild_member(ARGV[1])) then return 0 end

local refused = redis.pcall('ZADD', key, FIRST, HEAD)  -- it exists: changes nothing
if type(refused) == 'table' then
  redis.call('DEL', key)
  return refused
end

local score_of, gone, marked, marks = {}, {}, {}, {}
-- Of removals with a kind, and of such items in the key, whose spelling is the newer one.
local gone_however_spelled = {}
local function mark(member)
  if marked[member] then return end
  marked[member] = true
  marks[#marks + 1] = member
end
local held = redis.call('ZRANGE', key, '0', '-1', 'WITHSCORES')
for i = 1, #held, 2 do
  local member = held[i]
  if is_item(member) then
    score_of[member] = held[i + 1]
    if has_kind(member) then gone_however_spelled[of_any_kind(member)] = true end
  end
  if is_mark(member) then mark(member) end
  local removed = removed_by(member)
  if removed then
    gone[removed] = true
    if has_kind(removed) then gone_however_spelled[of_any_kind(removed)] = true end
  end
end
local last_mark = 9 + tonumber(ARGV[9])
for i = 10, last_mark do mark(ARGV[i]) end
if #marks > tonumber(ARGV[7]) then marks = {MORE_MARKS} end
if ARGV[8] ~= '' then marks[#marks + 1] = ARGV[8] end  -- takes the room of one
local most = tonumber(ARGV[4]) - #marks
window = math.max(1, math.min(window, most))

-- Those pushed meanwhile are few; those read come in the order.
local pushed = {}
for member, score in pairs(score_of) do pushed[#pushed + 1] = {tonumber(score), member, score} end
table.sort(pushed, function(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  return is_in_front(a[2], b[2])
end)
local members, scores, numbers, count, next_pushed = {}, {}, {}, 0, 1
local function take(member, score, number)
  count = count + 1
  members[count], scores[count], numbers[count] = member, score, number
end
local function take_pushed_before(number, member)
  while true do
    local item = pushed[next_pushed]
    if not item or item[1] > number then return end
    if item[1] == number and is_in_front(member, item[2]) then return end
    take(item[2], item[3], item[1])
    next_pushed = next_pushed + 1
  end
end
local any_spelling = next(gone_however_spelled) ~= nil
local function is_gone(member)
  return score_of[member] or gone[member] or (any_spelling and gone_however_spelled[of_any_kind(member)])
end
for i = last_mark + 1, #ARGV, 2 do
  local score, member = ARGV[i], ARGV[i + 1]
  if not is_gone(member) then
    score_of[member] = score
    local number = tonumber(score)
    take_pushed_before(number, member)
    take(member, score, number)
  end
end
take_pushed_before(math.huge)

local floor = ARGV[2]
local limit = floor == LAST and math.huge or tonumber(floor)
while count > 0 and numbers[count] > limit do count = count - 1 end
-- Items of the floor's own moment are not served, so the floor lies between two moments if
-- possible. Among too many items of one moment it lies in their midst. The items that were read
-- stay, as after a trim: else so short a timeline would be dropped at each removal.
local last = math.min(count, window)
while last < count and numbers[last + 1] == numbers[window] do last = last + 1 end
if last > most then last = window end
if last < count then floor = scores[last + 1] end
note_floor(maxfloor, floor)

local SHORT_TIMELINE = 128
local copies = last > SHORT_TIMELINE and type(redis.pcall('ZUNIONSTORE', key, '1', key)) == 'number'
redis.call('DEL', key)
local words = {FIRST, HEAD, floor, FLOOR}
for i = 1, #marks do
  words[#words + 1] = FIRST
  words[#words + 1] = marks[i]
end
local LONG = string.rep('-', 256)
if copies then redis.call('ZADD', key, '0', LONG) end
for i = last, 1, -1 do
  words[#words + 1] = scores[i]
  words[#words + 1] = members[i]
  if #words >= 256 then
    redis.call('ZADD', key, unpack(words))
    words = {}
  end
end
if #words > 0 then redis.call('ZADD', key, unpack(words)) end
if copies then
  redis.call('ZREM', key, LONG)
  redis.call('ZUNIONSTORE', key, '1', key)
end
if next(gone) and falls_short(key, math.floor(tonumber(ARGV[3]) / 2)) then
  redis.call('DEL', key)
  return 0
end
redis.call('PEXPIRE', key, (last > 0 or #marks > 0) and ARGV[5] or ARGV[6])
return 1
