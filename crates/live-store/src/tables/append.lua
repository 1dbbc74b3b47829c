-- Appends an entry to a journal if the journal still ends at the point that the caller decided on. Returns 1
-- once it is appended.
--
-- KEYS: head, journal, deadlines. ARGV: the point as "version tag"; the entry as "tag line"; the listener;
-- the deadline in ms or '', and after '' the time to live in ms unless the table is permanent.
--
-- The entry is published unless the caller, who knows it, is the only listener. Listeners are stored in the
-- head, and again with each subscription: the number of subscribers would mistake another process for the
-- caller while the caller's own subscription is broken.
--
-- The length alone does not identify a history, because a journal that has lost its last lines grows to the
-- same length again. The tags do.
--
-- This is the call of every move: each command and each argument costs as much as all the rest.
local call, sub = redis.call, string.sub
local head = call('hmget', KEYS[1], 'base', 'halted', 'listeners')
local base = tonumber(head[1])
if not base then return { 'missing' } end
if head[2] then return { 'halted' } end
local after, entry = ARGV[1], ARGV[2]
local expected, tag = tonumber(sub(after, 1, -14)), sub(after, -12)
local newest = call('lindex', KEYS[2], -1)
if newest and sub(newest, 1, 12) == tag then
  if base + call('rpush', KEYS[2], entry) ~= expected + 1 then
    -- The line with the tag is the last one, but the version matches no history.
    call('rpop', KEYS[2])
    return { 'elsewhere' }
  end
else
  local version = base + call('llen', KEYS[2])
  if expected < base or expected > version then return { 'elsewhere' } end
  local none = '000000000000'
  local at
  if expected > base then
    local there = call('lindex', KEYS[2], expected - version - 1)
    at = sub(there, 13, 13) == ' ' and sub(there, 1, 12) or none
  else
    at = call('hget', KEYS[1], 'tag') or none
  end
  if at ~= tag then return { 'elsewhere' } end
  if version ~= expected then
    return { 'behind', call('lrange', KEYS[2], expected - version, -1) }
  end
  call('rpush', KEYS[2], entry)
end
local table_id = sub(KEYS[1], -41, -6)
if ARGV[4] ~= '' then
  -- A table with a time to live has no deadline, so only a new deadline has a time to live to remove.
  if call('zadd', KEYS[3], ARGV[4], table_id) == 1 then
    call('persist', KEYS[1])
    call('persist', KEYS[2])
  end
else
  call('zrem', KEYS[3], table_id)
  if ARGV[5] then
    call('pexpire', KEYS[1], ARGV[5])
    call('pexpire', KEYS[2], ARGV[5])
  else
    call('persist', KEYS[1])
    call('persist', KEYS[2])
  end
end
local listeners = head[3]
if listeners and listeners ~= '' and listeners ~= ARGV[3] then
  call('spublish', sub(KEYS[1], 1, -5) .. 'lines', after .. '\n' .. entry)
end
return 1
