-- Creates a table unless it exists.
--
-- KEYS: head, journal. ARGV: snapshot, time to live in ms, version of the engine, tag.
if redis.call('exists', KEYS[1]) == 1 then return 0 end
redis.call('del', KEYS[2])
redis.call('hset', KEYS[1], 'base', 0, 'tag', ARGV[4], 'state', ARGV[1], 'engine', ARGV[3])
redis.call('pexpire', KEYS[1], ARGV[2])
return 1
