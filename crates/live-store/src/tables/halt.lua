-- Halts a table: it takes no further lines, has no deadline and does not expire, until an operator or the
-- house releases it. Returns 1 if this call halted it.
--
-- KEYS: head, journal, deadlines, halted tables. ARGV: table, reason.
if redis.call('exists', KEYS[1]) == 0 then return 0 end
redis.call('zrem', KEYS[3], ARGV[1])
redis.call('persist', KEYS[1])
redis.call('persist', KEYS[2])
if redis.call('hsetnx', KEYS[1], 'halted', ARGV[2]) == 0 then return 0 end
redis.call('sadd', KEYS[4], ARGV[1])
return 1
