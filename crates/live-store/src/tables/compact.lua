-- Replaces the lines up to a point by a snapshot of it, unless the journal has grown since.
--
-- KEYS: head, journal. ARGV: version, the tag at it, snapshot.
local head = redis.call('hmget', KEYS[1], 'base', 'tag')
local base = tonumber(head[1])
if not base then return 0 end
if base + redis.call('llen', KEYS[2]) ~= tonumber(ARGV[1]) then return 0 end
local none = '000000000000'
local tag = head[2] or none
local entry = redis.call('lindex', KEYS[2], -1)
if entry then tag = string.sub(entry, 13, 13) == ' ' and string.sub(entry, 1, 12) or none end
if tag ~= ARGV[2] then return 0 end
redis.call('hset', KEYS[1], 'base', ARGV[1], 'tag', tag, 'state', ARGV[3])
redis.call('del', KEYS[2])
return 1
