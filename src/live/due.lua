-- Takes the tables whose deadline has passed, and moves each deadline on by the claim: who takes
-- a table attends to it, and if that process dies another finds it due again.
-- KEYS: due.  ARGV: now in ms, claim in ms, limit.
local tables = redis.call('zrange', KEYS[1], '-inf', ARGV[1], 'byscore', 'limit', 0, ARGV[3])
for _, id in ipairs(tables) do
  redis.call('zadd', KEYS[1], ARGV[1] + ARGV[2], id)
end
return tables
