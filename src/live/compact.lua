-- Puts a snapshot in the place of the lines that it contains, if nothing was appended since.
-- KEYS: head, journal.  ARGV: version, snapshot.
local base = tonumber(redis.call('hget', KEYS[1], 'base'))
if not base then return 0 end
if base + redis.call('llen', KEYS[2]) ~= tonumber(ARGV[1]) then return 0 end
redis.call('hset', KEYS[1], 'base', ARGV[1], 'state', ARGV[2])
redis.call('del', KEYS[2])
return 1
