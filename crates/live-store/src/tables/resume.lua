-- Resumes a halted table. Returns 1 if it was halted.
--
-- KEYS: head, journal, deadlines, halted tables. ARGV: table, deadline in ms or ''.
redis.call('srem', KEYS[4], ARGV[1])
if redis.call('hdel', KEYS[1], 'halted') == 0 then return 0 end
if ARGV[2] ~= '' then
  redis.call('zadd', KEYS[3], ARGV[2], ARGV[1])
  -- A node of an earlier version may have halted it, which left the journal its time to live.
  redis.call('persist', KEYS[2])
end
return 1
