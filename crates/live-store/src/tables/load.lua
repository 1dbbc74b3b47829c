-- Returns a table's snapshot and the lines after it, or only the lines after a point. Both results include
-- the reason of a halt, or ''.
--
-- KEYS: head, journal. ARGV: version or '', the tag at it.
local head = redis.call('hmget', KEYS[1], 'base', 'engine', 'halted', 'tag')
local base = tonumber(head[1])
if not base then return { 'missing' } end
local none = '000000000000'
local tag = head[4] or none
if ARGV[1] ~= '' then
  local from = tonumber(ARGV[1])
  local version = base + redis.call('llen', KEYS[2])
  if from < base or from > version then return { 'elsewhere' } end
  if from > base then
    local entry = redis.call('lindex', KEYS[2], from - version - 1)
    tag = string.sub(entry, 13, 13) == ' ' and string.sub(entry, 1, 12) or none
  end
  if tag ~= ARGV[2] then return { 'elsewhere' } end
  if from == version then return { 'tail', {}, head[3] or '' } end
  return { 'tail', redis.call('lrange', KEYS[2], from - version, -1), head[3] or '' }
end
return { 'whole', base, tag, redis.call('hget', KEYS[1], 'state'),
  redis.call('lrange', KEYS[2], 0, -1), tonumber(head[2]), head[3] or '' }
