-- drop.lua - makes one timeline not live, whatever its key holds: its reader rebuilds it.
--
-- KEYS  own:{tag}, live:{tag}, the timeline
-- ARGV  epoch
-- Reply FENCED error: nothing was written; else 1. Idempotent.
local refused = fence(ARGV[1])
if refused then return refused end
drop(KEYS[3], KEYS[2])
return 1
