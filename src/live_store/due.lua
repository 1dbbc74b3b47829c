-- Takes the tables whose deadline has passed, and moves each deadline on by the claim: who takes
-- a table attends to it, and if that process dies another finds it due again.
-- KEYS: due…  ARGV: claim in ms, limit for each, then now in ms for each.
local claim, limit, taken = ARGV[1], ARGV[2], {}
for i, due in ipairs(KEYS) do
  local now = ARGV[2 + i]
  for _, id in ipairs(redis.call('zrange', due, '-inf', now, 'byscore', 'limit', 0, limit)) do
    redis.call('zadd', due, now + claim, id)
    taken[#taken + 1] = id
  end
end
return taken
