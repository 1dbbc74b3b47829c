// A fake house with one table for scenes: it serves the built client and follows PROTOCOL.md, with cards that
// the test chooses. Complete games run on a real server; scenes cover moments that chance produces too
// seldom. The house knows no rules: a scene states the legal actions and their results.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const KINDS = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', png: 'image/png', webmanifest: 'application/manifest+json' };
// The policy that src/http/pages/play.rs sends; the complete games run under the real one.
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
  + "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** The longest wait for a page to draw a scene, for pages that cannot, as one without a network. */
const DRAWN_WITHIN_MS = 5_000;

export const ME = '019ca944-3c00-7000-8000-00000091a7e0';
export const OTHERS = ['019ca944-3c00-7000-8000-00000091a7e1', '019ca944-3c00-7000-8000-00000091a7e2'];
export const GAME = '019ca944-3c00-7000-8000-000000009a3e';
const NEXT = '019ca944-3c00-7000-8000-000000009a3f';
export const TABLE = '019ca944-3c00-7000-8000-00000007ab1e';
const COMMITMENT = '9985b2e4b9b71b28ce59ea5ce77f0b110637b625c6d7f41e982c9510940a2056';

export const RULES = {
  deal: 'clockwise', hand_cards: 12, jokers: false, auto_draw: true, dump_addable: false, secret_run_min: 5,
  bahay: false, sagasa: false, spread: false, fight_blocked_by: 'anyone', secret_may_challenge: true,
  challengers_tied: 'first_after_fighter', zero_count_fight: false, variable_payout: false,
  all_burned: 'fewest_points', counts: { normal: 1, tongits: 1, special: 1, secret: 1, challenge: 2, burned: 1 },
  countdowns: { draw_ms: 10000, play_ms: 20000, fight_ms: 10000 },
};

export const TERMS = {
  room: 'newbie', rules: RULES, price: { bet: 100, multiplier: 1, fee_basis_points: 500 },
  hits: { ante: 1, to_win: 2, second_hit_bonus: 0 },
  clocks: { prepare_ms: 10000, think_ms: 1000, grace_ms: 15000, missed_turns_to_takeover: 2, absence_ms: 30000, retry_ms: 1000 },
  spectators: 'anybody',
};

/** The terms in which a practice table differs. */
export const PRACTICE = {
  room: 'practice', price: { bet: 0, multiplier: 1, fee_basis_points: 0 }, hits: null, spectators: 'nobody', practice: true,
};

/** Returns a meld whose cards all come from its owner. */
export function meld(owner, ...cards) {
  return { owner, cards, by: [0, 1, 2].map((seat) => (seat === owner ? cards : [])) };
}

/** Returns a table of Tong-its during a game. `legal` lists the actions of the player at seat 0. */
export function playingTable({ hand, phase, discards = [], melds = [], counts = [hand.length, 10, 9], stock = 8,
  added = [], legal = [], pot = 600, crown = null, seats = {}, terms = {}, ms = 9000, answered } = {}) {
  const prompt = 7;
  return {
    legal, prompt, ms,
    view: {
      table: TABLE, terms: { ...TERMS, ...terms }, kind: 'tongits', seat: 0, pot, crown,
      seats: seatsWith(seats),
      phase: {
        type: 'playing', game: GAME, stakes: [1400, 1400, 1400], deadline_ms: null,
        view: {
          viewer: 0, hands: [hand, null, null], answers: answered ?? [],
          public: {
            rules: RULES, phase, prompt, countdown: 3, hand_counts: counts, stock_count: stock,
            discards, melds, added_to: added, drew_last: null, shown: null, end: null,
          },
        },
      },
    },
  };
}

/** Returns the same table between two games. */
export function betweenGames({ phase, seats = {}, pot = 300, crown = null, terms = {} } = {}) {
  return {
    legal: [], prompt: 0, ms: 9000,
    view: { table: TABLE, terms: { ...TERMS, ...terms }, kind: 'tongits', seat: 0, pot, crown, seats: seatsWith(seats), phase },
  };
}

/** Returns a preparation as the player sees it: `ready` has no other seat than its own. */
export const preparingPhase = (ready = [], ms = 9000) =>
  ({ type: 'preparing', game: NEXT, commitment: COMMITMENT, deadline_ms: Date.now() + ms, ready });

function seatsWith(changes) {
  const names = ['Althea', 'Benjie', 'Carmela'];
  return names.map((name, seat) => changes[seat] === null ? null : ({
    player: [ME, ...OTHERS][seat], name, avatar: ['kalaw', 'carabao', 'parol'][seat], bot: false,
    connected: true, taken_over: false, ...changes[seat],
  }));
}

const ROOM = {
  id: 'newbie', name: 'Newbie', kind: 'tongits', game: 'Tong-its', rule_set: 'kingdom', bet: 100, ante: 100,
  multiplier: 1, fee_basis_points: 500, wallet_min: 1500, wallet_max: null, hits_to_win: 2, is_open: true,
  needs_account: false, has_own_switches: false, players: 4, tables: 2, seats: 3, seats_min: 3,
};

const ANSWERS = {
  'GET /v1/me': { id: ME, name: 'Althea', avatar: 'kalaw', created_at: '2026-03-01T12:00:00Z', renamable_at: null, time_zone: null },
  'GET /v1/me/wallet': { available: 101445, held: 0, version: 3 },
  'GET /v1/rooms': { items: [ROOM,
    { ...ROOM, id: 'silver', name: 'Silver', bet: 1000, wallet_min: 15000, players: 0 },
    { ...ROOM, id: 'gold', name: 'Gold', bet: 10000, wallet_min: 150000, needs_account: true },
    { ...ROOM, id: 'tongo-options-newbie', name: 'Tongo (options), Beginners', kind: 'tongo_options', game: 'Tongo (options)', rule_set: 'lively',
      ante: 0, wallet_min: 10000, hits_to_win: null, players: 0, seats: 4, seats_min: 2 }] },
  'GET /v1/me/rewards': {
    daily: { amount: 10000, claimable: true, claimable_at: '2026-03-01T12:00:00Z', streak_day: 2 },
    relief: { amount: 20000, claimable: false, floor: 5000, left_today: 3 },
  },
  'GET /v1/me/sign-in-methods': { devices: 1, identities: [], password_set_at: null },
  'POST /v1/me/proof': { proof: `ap_${'0'.repeat(80)}`, expires_at: '2026-03-01T12:05:00Z' },
  'GET /v1/avatars': { items: ['carabao', 'tarsier', 'eagle', 'maya', 'kalaw', 'parol', 'salakot', 'narra'] },
};

/** Starts a house; `scene` may be changed while it runs. */
export async function openHouse(dist) {
  const house = {
    /** The table, or null if the player has no seat. */
    scene: null,
    /** Returns the result of an action: events, and a new scene. */
    follow: () => null,
    /** The commands sent over the socket, without authentication and join. */
    heard: [],
    answers: { ...ANSWERS },
    dist,
    /** Changes a served file of the page, or returns null if it is missing. */
    change: null,
    /** True if nothing is answered, as without a network. */
    isDown: false,
    /** The REST requests, with their bodies. */
    asked: [],
    sockets: new Set(),
    /** True if commands on sockets are not answered and no socket is opened. */
    isMute: false,
    version: 6,
    /** The number of the last echo that a page was asked for. */
    echoes: 0,
  };
  const server = createServer((request, response) => answer(house, dist, request, response));
  server.on('upgrade', (request, socket) => upgrade(house, request, socket));
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  house.url = `http://127.0.0.1:${server.address().port}`;
  house.close = () => {
    for (const socket of house.sockets) socket.raw.destroy();
    server.closeAllConnections();
    return new Promise((done) => { server.close(done); });
  };
  /** Sends a new snapshot to every connection, and waits until the pages have drawn it: an earlier click would meet the scene before. */
  house.show = (scene) => {
    house.scene = scene;
    return Promise.all([...house.sockets].filter((socket) => socket.joined).map((socket) => {
      snapshot(house, socket);
      return waitUntilDrawn(house, socket);
    }));
  };
  /** Sends events and their resulting scene, with the ack of the command that they answer, if any. */
  house.tell = (events, scene = house.scene, answered = null) => {
    house.scene = scene;
    house.version += 1;
    for (const socket of house.sockets) {
      if (!socket.joined) continue;
      const ack = socket === answered?.socket ? { ack: answered.id } : {};
      socket.send({ type: 'update', version: house.version, tag: tag(house), server_time_ms: Date.now(), events, ...promptOf(house), ...ack });
    }
  };
  house.cut = (code) => { for (const socket of house.sockets) (code ? socket.end(code) : socket.raw.destroy()); };
  return house;
}

function answer(house, dist, request, response) {
  if (house.isDown) {
    request.socket.resetAndDestroy();
    return;
  }
  const path = request.url.split('?')[0];
  const send = (status, kind, body, more = {}) => {
    response.writeHead(status, { 'content-type': kind, ...more });
    response.end(body);
  };
  if (path === '/play' || path.startsWith('/play/join/')) {
    send(200, KINDS.html, textOf(house, 'index.html'), { 'content-security-policy': POLICY });
    return;
  }
  if (path === '/play/sw.js' || path === '/play/manifest.webmanifest') {
    const name = path.slice('/play/'.length);
    const text = textOf(house, name);
    if (text === null) send(404, 'text/plain', '');
    else send(200, KINDS[name.split('.').at(-1)], text, { 'cache-control': 'no-cache', 'service-worker-allowed': '/play' });
    return;
  }
  if (path.startsWith('/play/files/')) {
    const file = join(dist, path.slice('/play/files/'.length));
    if (existsSync(file)) send(200, KINDS[file.split('.').at(-1)], readFileSync(file));
    else send(404, 'text/plain', '');
    return;
  }
  let body = '';
  request.on('data', (bytes) => { body += bytes; });
  request.on('end', () => house.asked.push({ name: `${request.method} ${path}`, body: body === '' ? null : JSON.parse(body) }));
  const json = (status, body) => send(status, 'application/json', JSON.stringify(body));
  const name = `${request.method} ${path}`;
  if (name === 'POST /v1/sign-in/guest' || name === 'POST /v1/token/refresh') {
    const later = new Date(Date.now() + 900_000).toISOString();
    json(200, {
      access_token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOi.c2lnbmF0dXJl', access_expires_at: later, refresh_token: 'r'.repeat(43),
      refresh_expires_at: later, session: NEXT, player: house.answers['GET /v1/me'],
    });
  } else if (name === 'POST /v1/play/tickets') {
    json(200, { ticket: `pt_${'0'.repeat(64)}`, expires_at: new Date(Date.now() + 30_000).toISOString() });
  } else if (house.answers[name] !== undefined) {
    const given = house.answers[name];
    if (given.refuse) json(given.status, { type: `/problems#${given.refuse}`, title: given.refuse, code: given.refuse, status: given.status });
    else json(200, given);
  } else {
    json(404, { type: '/problems#route_not_found', code: 'route_not_found', title: 'There is nothing', status: 404 });
  }
}

function textOf(house, name) {
  const text = readFileSync(join(house.dist, name), 'utf8');
  return house.change ? house.change(name, text) : text;
}

const tag = (house) => house.version.toString(16).padStart(12, '0');

function promptOf(house) {
  const { view, legal, prompt, ms, asked } = house.scene ?? {};
  if (view?.phase.type !== 'playing') return {};
  const { phase } = view.phase.view.public;
  const seats = asked ?? (phase.type === 'fight' ? phase.asked : [phase.seat]);
  return { prompt: { game: GAME, number: prompt, seats, deadline_ms: Date.now() + ms, legal } };
}

function snapshot(house, socket) {
  if (!house.scene) return;
  socket.send({ type: 'snapshot', version: house.version, tag: tag(house), server_time_ms: Date.now(), view: house.scene.view, ...promptOf(house) });
}

/** Waits until the page of a connection has drawn what it was sent (see echoScenes), for a limited time if it cannot. */
function waitUntilDrawn(house, socket) {
  const number = house.echoes += 1;
  return new Promise((done) => {
    socket.awaited.set(number, done);
    setTimeout(done, DRAWN_WITHIN_MS).unref();
    socket.send({ type: 'echo', number });
  });
}

function upgrade(house, request, raw) {
  raw.on('error', () => {});
  if (house.isDown) {
    raw.resetAndDestroy();
    return;
  }
  if (house.isMute) {
    const hung = { raw, joined: false, send: () => {}, end: () => raw.destroy() };
    house.sockets.add(hung);
    raw.on('close', () => house.sockets.delete(hung));
    return;
  }
  const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + MAGIC).digest('base64');
  raw.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
    + `Sec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: bahay.v1\r\n\r\n`);
  const socket = { raw, joined: false, awaited: new Map(), send: (message) => raw.write(encodeFrame(1, Buffer.from(JSON.stringify(message)))), end: (code) => {
    const bytes = Buffer.alloc(2);
    bytes.writeUInt16BE(code);
    raw.write(encodeFrame(8, bytes));
    raw.end();
  } };
  house.sockets.add(socket);
  for (const said of commandsInRequest(request)) handleCommand(house, socket, said);
  raw.on('close', () => {
    house.sockets.delete(socket);
    for (const done of socket.awaited.values()) done();
  });
  let rest = Buffer.alloc(0);
  raw.on('data', (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (let read = decodeFrame(rest); read; read = decodeFrame(rest)) {
      rest = rest.subarray(read.length);
      if (read.opcode === 8) raw.end();
      if (read.opcode === 9) raw.write(encodeFrame(10, read.data));
      if (read.opcode === 1) handleCommand(house, socket, JSON.parse(read.data.toString()));
    }
  });
}

/** Returns the commands within a request for a socket. */
function commandsInRequest({ url, headers }) {
  const said = [];
  if (/bahay\.token\./.test(headers['sec-websocket-protocol'] ?? '')) said.push({ type: 'authenticate', id: 0 });
  if (new URL(url, 'http://house').searchParams.get('type') === 'join') said.push({ type: 'join', id: 1 });
  return said;
}

function handleCommand(house, socket, said) {
  if (said.type === 'echo') {
    socket.awaited.get(said.number)?.();
    socket.awaited.delete(said.number);
    return;
  }
  if (house.isMute) return;
  const done = () => socket.send({ type: 'ack', id: said.id, version: house.version });
  if (said.type === 'authenticate') {
    socket.send({ type: 'hello', player: house.answers['GET /v1/me'].id, protocol: 'bahay.v1', server_time_ms: Date.now(), notices: house.notices ?? 0 });
    done();
    return;
  }
  if (said.type === 'join') {
    if (!house.scene) {
      socket.send({ type: 'refusal', id: said.id, code: 'not_seated', rule: null, detail: 'you do not sit at a table: ask a room for a seat', retryable: false });
      return;
    }
    socket.joined = true;
    snapshot(house, socket);
    done();
    return;
  }
  // Pings depend on the machine's speed, so they are not recorded.
  if (said.type !== 'ping') house.heard.push(said);
  const next = house.follow(said);
  if (next?.refuse) {
    socket.send({ type: 'refusal', id: said.id, rule: null, retryable: false, detail: next.refuse, code: next.refuse });
    return;
  }
  if (next?.ticket) socket.send({ type: 'ticket', ticket: NEXT, rooms: said.rooms ?? ['newbie'], expires_at_ms: Date.now() + 120_000, ...next.ticket });
  if (next?.events) {
    house.tell(next.events, next.scene ?? house.scene, { socket, id: said.id });
    if (socket.joined) return;
  }
  if (next?.advice) socket.send({ type: 'advice', game: GAME, prompt: house.scene.prompt, by: 'greedy', action: next.advice });
  if (next?.said) socket.send({ type: 'said', player: ME, phrase: said.phrase, server_time_ms: Date.now() });
  done();
}

function encodeFrame(opcode, data) {
  const head = data.length < 126 ? Buffer.from([0x80 | opcode, data.length]) : Buffer.from([0x80 | opcode, 126, data.length >> 8, data.length & 255]);
  return Buffer.concat([head, data]);
}

function decodeFrame(bytes) {
  if (bytes.length < 6) return null;
  let size = bytes[1] & 127;
  let at = 2;
  if (size === 126) {
    size = bytes.readUInt16BE(2);
    at = 4;
  }
  if (bytes.length < at + 4 + size) return null;
  const mask = bytes.subarray(at, at + 4);
  const data = Buffer.from(bytes.subarray(at + 4, at + 4 + size).map((byte, i) => byte ^ mask[i % 4]));
  return { opcode: bytes[0] & 15, data, length: at + 4 + size };
}
