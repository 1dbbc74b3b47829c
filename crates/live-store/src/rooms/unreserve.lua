-- Releases a reservation that was not used.
--
-- KEYS: open tables, seats taken by table, companions by table. ARGV: table, player.
local stored = redis.call('hget', KEYS[3], ARGV[1])
if not stored then return 0 end
local entry = cjson.decode(stored)
local stay = {}
for _, one in ipairs(entry.who) do
  if one.s or one.p ~= ARGV[2] then stay[#stay + 1] = one end
end
if #stay > 0 then
  redis.call('hset', KEYS[3], ARGV[1], cjson.encode({ seats = entry.seats, who = stay }))
  return 1
end
redis.call('hdel', KEYS[3], ARGV[1])
-- A table without players, reservations and a POT need not be listed.
local score = redis.call('zscore', KEYS[1], ARGV[1])
if score and tonumber(score) >= 10 then redis.call('zrem', KEYS[1], ARGV[1]) end
return 1
