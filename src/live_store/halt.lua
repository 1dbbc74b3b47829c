-- Halts a table: nothing is appended to it any more, and no deadline of it is due. It lasts until
-- it is looked after.
-- KEYS: head, journal, due, halted tables.  ARGV: table, why.  Gives 1 if this call did it.
if redis.call('exists', KEYS[1]) == 0 then return 0 end
redis.call('zrem', KEYS[3], ARGV[1])
redis.call('persist', KEYS[1])
redis.call('persist', KEYS[2])
if redis.call('hsetnx', KEYS[1], 'halted', ARGV[2]) == 0 then return 0 end
redis.call('sadd', KEYS[4], ARGV[1])
return 1
