-- Returns the time of a shard in ms as the next heartbeat would have it, or '' if there was no heartbeat yet
-- or the clock of Redis went back: see beat.lua.
--
-- KEYS: clock. ARGV: gap in ms.
local clock = redis.call('hmget', KEYS[1], 'at', 'offset')
local at, offset = tonumber(clock[1]), tonumber(clock[2]) or 0
if not at then return '' end
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local since, gap = now - at, tonumber(ARGV[1])
if since < 0 then return '' end
-- Time stops while there are no heartbeats.
if since > gap then return string.format('%d', math.floor(at + offset + gap)) end
local melted = math.min(math.abs(offset), since / 50)
if offset > 0 then offset = offset - melted else offset = offset + melted end
return string.format('%d', math.floor(now + offset))
