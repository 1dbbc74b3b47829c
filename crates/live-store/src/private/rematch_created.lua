-- Marks the table of a rematch as created, unless another claim has replaced it.
--
-- KEYS: the rematch. ARGV: table.
if redis.call('hget', KEYS[1], 'table') ~= ARGV[1] then return 0 end
return redis.call('hset', KEYS[1], 'made', '1')
