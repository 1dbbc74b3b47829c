-- A table's snapshot and the journal since, or only the journal from a version on.
-- KEYS: head, journal.  ARGV: version or ''.
local head = redis.call('hmget', KEYS[1], 'base', 'engine', 'halted')
local base = tonumber(head[1])
if not base then return { 'missing' } end
if ARGV[1] ~= '' then
  local from = tonumber(ARGV[1])
  local version = base + redis.call('llen', KEYS[2])
  if from < base or from > version then return { 'elsewhere' } end
  return { 'tail', redis.call('lrange', KEYS[2], from - base, -1) }
end
-- Tables that were founded before engines had versions are of the first.
return { 'whole', base, redis.call('hget', KEYS[1], 'state'), redis.call('lrange', KEYS[2], 0, -1),
  tonumber(head[2]) or 1, head[3] or '' }
