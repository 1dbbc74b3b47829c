-- Removes a table completely, and publishes its end to its listeners.
--
-- KEYS: head, journal, deadlines, halted tables. ARGV: table, channel.
redis.call('del', KEYS[1], KEYS[2])
redis.call('zrem', KEYS[3], ARGV[1])
redis.call('srem', KEYS[4], ARGV[1])
redis.call('spublish', ARGV[2], 'ended')
return 1
