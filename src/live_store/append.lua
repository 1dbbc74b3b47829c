-- Appends an entry to a journal if its newest point is still the one the caller decided on.
-- KEYS: head, journal, due.  ARGV: the point, as "version tag"; the entry, as "tag line"; listener;
-- deadline in ms or '', and after '' time to live in ms, unless the table lasts.  Gives 1 when it is
-- appended.
--
-- It is published unless nobody listens but the caller, who knows it. Who listens is noted in
-- the head, and noted again with each subscription: counting subscribers would take another for
-- the caller while its own subscription is broken.
--
-- The length alone does not tell one history from another: a Redis that has lost its last lines
-- grows to the same length again. The tags do.
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
    -- The line is the newest, and the version is not that of any history.
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
  -- What has a time to live is not among the deadlines: only then is there one to be lifted.
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
