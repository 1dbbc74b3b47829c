-- Reserves places at one table for players who all want to sit there: at the table that should be
-- filled first, else at a new one; or only at the table that is asked for. A score is rank × 10 +
-- free seats, the least first. Nobody gets a place beside somebody else with the same key, beside a
-- player that either of the two has blocked, or, where networks are kept apart, beside somebody of the
-- same network. Gives the table, and 1 if a place was refused for the network alone.
-- KEYS: open tables, seats taken by table, companions by table.  ARGV: new table or '', the only
-- table or '', seats of a new one, rank × 10 of a new one, how long a place is kept in ms, '1' where
-- networks are kept apart, number of players, the players…, tables to skip…
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

-- The companions with the players in it, if they fit in and fit in with it.
local function with(listed, size)
  local stay, keys, networks, same_network = {}, {}, {}, false
  for _, one in ipairs(listed) do
    if is_one[one.p] then
      -- Reserved before, by somebody who did not come to an end; or seated already.
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

local function take(table, score)
  local stored = redis.call('hget', KEYS[3], table)
  local size, listed = seats, {}
  if stored then
    local entry = cjson.decode(stored)
    size, listed = entry.seats, entry.who
    if #listed == 0 then listed = {} end
  end
  local companions = with(listed, size)
  if not companions then return false end
  -- The fullest first, within its rank.
  redis.call('zadd', KEYS[1], math.floor(score / 10) * 10 + size - #companions, table)
  redis.call('hset', KEYS[3], table, cjson.encode({ seats = size, who = companions }))
  return true
end

local fresh = tonumber(ARGV[4]) + seats
if here ~= '' then
  if take(here, redis.call('zscore', KEYS[1], here) or fresh) then return { here, 0 } end
  return { false, only_network }
end
local listed = redis.call('zrange', KEYS[1], 0, 99 + #ARGV, 'withscores')
for i = 1, #listed, 2 do
  if not skip[listed[i]] and take(listed[i], listed[i + 1]) then
    return { listed[i], only_network }
  end
end
if take(new, fresh) then return { new, only_network } end
return { false, only_network }
