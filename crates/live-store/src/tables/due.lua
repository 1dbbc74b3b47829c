-- Claims the tables whose deadline has passed, and postpones each deadline by the claim: if the claiming
-- process dies, another process finds the table due again.
--
-- KEYS: sets of deadlines… ARGV: claim in ms, limit for each set, then the time in ms for each set.
local claim, limit, taken = ARGV[1], ARGV[2], {}
for i, due in ipairs(KEYS) do
  local now = ARGV[2 + i]
  for _, id in ipairs(redis.call('zrange', due, '-inf', now, 'byscore', 'limit', 0, limit)) do
    redis.call('zadd', due, now + claim, id)
    taken[#taken + 1] = id
  end
end
return taken
