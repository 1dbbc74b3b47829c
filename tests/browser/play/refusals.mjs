// Checks that every refusal that a player can receive has texts in both languages: the lists of
// clients/refusals against the codes of asyncapi.yaml and openapi.yaml.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The codes that only operators receive, at the desk and in their part of the API. */
const OF_OPERATORS = ['account_not_found', 'adjustment_day_max', 'adjustment_requested', 'adjustment_too_large', 'already_reversed', 'cancellation_changed', 'correction_decided',
  'correction_not_found', 'correction_not_independent', 'correction_not_own', 'correction_own', 'form_foreign', 'game_changed', 'job_not_found', 'last_administrator', 'no_game', 'not_banned', 'not_halted', 'not_muted',
  'not_reversible', 'operation_not_found', 'operator_not_found', 'operator_own', 'operator_role_missing', 'operator_taken',
  'operator_token_expired', 'operator_token_unknown', 'overdrawn', 'pair_not_found', 'pass_held', 'pass_not_found', 'pass_revoked', 'pot_empty', 'report_decided', 'report_not_found', 'reversal_requested',
  'revocation_requested', 'room_changed',
  'room_name_taken', 'room_taken', 'room_unsound', 'sanction_not_found', 'second_factor_missing', 'table_broken', 'table_live', 'too_many_rooms',
  'tournament_approval_required', 'tournament_request_decided', 'tournament_request_not_found', 'tournament_request_not_independent',
  'tournament_request_not_own', 'tournament_request_own', 'tournament_schedule_not_found', 'tournament_unsound'];

/** The games that the page shows, as in play/src/games. */
const KINDS = [
  'tongits',
  'tongo_assets',
  'tongo_options',
];

export function checkRefusals(root) {
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const codesOf = (list) => {
    const texts = Object.entries(JSON.parse(read(`clients/refusals/${list}.json`)));
    for (const [code, { en, fil }] of texts) assert.ok(en && fil, `${code} has a text in both languages`);
    return new Set(texts.map(([code]) => code));
  };
  // The codes of other games reach no player of this page.
  const socket = [...read('asyncapi.yaml').matchAll(/^      - code: (\w+)\n(?: {8}.*\n)*? {8}kind: (\w+)$/gm)]
    .filter((found) => ['null', ...KINDS].includes(found[2]));
  const rest = /\n    ProblemCode:\n[^]*?enum:\n((?:      - \w+\n)+)/.exec(read('openapi.yaml'))[1].match(/\w+/g);
  assert.ok(socket.length > 50 && rest.length > 100, 'the codes were found');
  const known = codesOf('house');
  const missing = rest.filter((code) => !known.has(code) && !OF_OPERATORS.includes(code));
  for (const [, code, kind] of socket) {
    if (!known.has(code) && !(KINDS.includes(kind) && codesOf(kind).has(code))) missing.push(`${code} of ${kind}`);
  }
  assert.deepEqual(missing, [], 'refusals without texts in clients/refusals');
  assert.deepEqual(OF_OPERATORS.filter((code) => !rest.includes(code)), [], 'codes that are gone');
  // The canary: an unknown code must be missing.
  assert.ok(!known.has('no_such_code'));
}
