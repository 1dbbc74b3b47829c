-- Returns the number of nodes of a shard without a heartbeat for a time. While Redis was unavailable no node could
-- send any, so there are none until the next heartbeat of a node: see beat.lua.
--
-- KEYS: heartbeats, clock. ARGV: silence in ms, gap in ms.
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local at = tonumber(redis.call('hget', KEYS[2], 'at'))
if not at or now - at > tonumber(ARGV[2]) then return 0 end
return redis.call('zcount', KEYS[1], '-inf', string.format('(%d', now - tonumber(ARGV[1])))
