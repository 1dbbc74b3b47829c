-- Places tickets together at a table, if the lease is current and all of them wait.
--
-- KEYS: lease, its fencing number, waiting tickets, placed tickets. ARGV: holder, fencing number, table, the
-- stored placement, the prefix of the tickets' keys, the tickets…
if redis.call('get', KEYS[1]) ~= ARGV[1] or redis.call('get', KEYS[2]) ~= ARGV[2] then return 0 end
for i = 6, #ARGV do
  if not redis.call('zscore', KEYS[3], ARGV[i]) then return 0 end
end
for i = 6, #ARGV do
  redis.call('zrem', KEYS[3], ARGV[i])
  redis.call('hset', KEYS[4], ARGV[i], ARGV[4])
  redis.call('hset', ARGV[5] .. ':' .. ARGV[i], 'state', 'placed', 'table', ARGV[3])
end
return 1
