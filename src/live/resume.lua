-- Lifts the halt of a table.  KEYS: head, due, halted tables.  ARGV: table, deadline in ms or ''.
-- Gives 1 if it was halted.
redis.call('srem', KEYS[3], ARGV[1])
if redis.call('hdel', KEYS[1], 'halted') == 0 then return 0 end
if ARGV[2] ~= '' then redis.call('zadd', KEYS[2], ARGV[2], ARGV[1]) end
return 1
