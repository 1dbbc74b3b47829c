-- Ends a table: nothing of it stays, and whoever watches it is told.
-- KEYS: head, journal, due, halted tables.  ARGV: table, channel.
redis.call('del', KEYS[1], KEYS[2])
redis.call('zrem', KEYS[3], ARGV[1])
redis.call('srem', KEYS[4], ARGV[1])
redis.call('spublish', ARGV[2], 'ended')
return 1
