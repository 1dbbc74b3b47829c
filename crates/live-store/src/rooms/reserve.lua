-- Reserves seats for players who all want to sit at one table: at the table that should be filled first,
-- otherwise at a new one; or only at the given table. A score is rank × 10 + free seats, the lowest first. No
-- player gets a seat beside another with the same conflict key, beside a player that either of the two has
-- blocked, or, if networks are kept apart, beside a player of the same network. Returns the table, and 1 if a
-- seat was refused because of the network alone.
--
-- KEYS: open tables, seats taken by table, companions by table. ARGV: new table or '', the only table or '',
-- seats of a new table, rank × 10 of a new table, lifetime of a reservation in ms, '1' if networks are kept
-- apart, number of players, the players…, tables to skip…
local new, here, seats, count = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[7])
local networks_apart, only_network = ARGV[6] == '1', 0
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local who, is_one, skip = {}, {}, {}
for i = 8, 7 + count do
  local one = cjson.decode(ARGV[i])
  one.at = now
  who[#who + 1] = one
  is_one[one.p] = true
end
for i = 8 + count, #ARGV do skip[ARGV[i]] = true end

local function has_blocked(one, other)
  return one.b and string.find(one.b, other.p, 1, true)
end

-- Returns the companions including the players, if there are enough seats and nobody is kept apart.
local function fit_companions(listed, size)
  local stay, keys, networks, same_network = {}, {}, {}, false
  for _, one in ipairs(listed) do
    if is_one[one.p] then
      -- The player holds a reservation of an interrupted request, or sits there already.
      for _, again in ipairs(who) do if again.p == one.p then again.s = one.s end end
    elseif one.s or now - one.at < tonumber(ARGV[5]) then
      stay[#stay + 1] = one
      for key in string.gmatch(one.m, '%S+') do keys[key] = true end
      if one.n then networks[one.n] = true end
    end
  end
  if #stay + #who > size then return nil end
  for _, one in ipairs(who) do
    for _, other in ipairs(stay) do
      if has_blocked(one, other) or has_blocked(other, one) then return nil end
    end
    local own = {}
    for key in string.gmatch(one.m, '%S+') do
      if keys[key] then return nil end
      own[key] = true
    end
    for key in pairs(own) do keys[key] = true end
    if one.n then
      same_network = same_network or (networks_apart and networks[one.n])
      networks[one.n] = true
    end
    stay[#stay + 1] = one
  end
  if same_network then
    only_network = 1
    return nil
  end
  return stay
end

local function reserve_at(table, score)
  local stored = redis.call('hget', KEYS[3], table)
  local size, listed = seats, {}
  if stored then
    local entry = cjson.decode(stored)
    size, listed = entry.seats, entry.who
    if #listed == 0 then listed = {} end
  end
  local companions = fit_companions(listed, size)
  if not companions then return false end
  -- Within a rank, the fullest table comes first.
  redis.call('zadd', KEYS[1], math.floor(score / 10) * 10 + size - #companions, table)
  redis.call('hset', KEYS[3], table, cjson.encode({ seats = size, who = companions }))
  return true
end

local fresh = tonumber(ARGV[4]) + seats
if here ~= '' then
  if reserve_at(here, redis.call('zscore', KEYS[1], here) or fresh) then return { here, 0 } end
  return { false, only_network }
end
local listed = redis.call('zrange', KEYS[1], 0, 99 + #ARGV, 'withscores')
for i = 1, #listed, 2 do
  if not skip[listed[i]] and reserve_at(listed[i], listed[i + 1]) then
    return { listed[i], only_network }
  end
end
if reserve_at(new, fresh) then return { new, only_network } end
return { false, only_network }
