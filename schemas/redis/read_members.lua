-- read_members.lua - all posts of one timeline, for the pusher that will ask the truth about them.
--
-- KEYS  own:{tag}, the timeline
-- ARGV  epoch
-- Reply FENCED error, or {"none"}, {"building"}, {"ready", items newest first...}. Writes no
--       timeline.
local refused = fence(ARGV[1])
if refused then return refused end
local members = redis.call('ZRANGE', KEYS[2], '0', '-1')
if #members == 0 then return {'none'} end
if is_building(members[#members]) then return {'building'} end
local reply = {'ready'}
for i = 1, #members do
  if is_item(members[i]) then reply[#reply + 1] = members[i] end
end
return reply
