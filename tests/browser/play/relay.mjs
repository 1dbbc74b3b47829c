// A relay between browser and server that can be cut, and that adds latency. Chromium keeps open sockets
// alive when it is set offline, and delays no socket messages, so the relay stops and holds the bytes.
import { connect, createServer } from 'node:net';

/** Starts a relay; `delayMs` is the latency each way. */
export async function relayTo(url, { delayMs = 0 } = {}) {
  const { hostname, port } = new URL(url);
  const open = new Set();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    for (const [one, other] of [[near, far], [far, near]]) {
      open.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
    forward(near, far, delayMs);
    forward(far, near, delayMs);
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    cut: () => {
      isCut = true;
      for (const one of open) one.destroy();
    },
    mend: () => { isCut = false; },
    close: () => {
      for (const one of open) one.destroy();
      server.close();
    },
  };
}


function forward(from, to, delayMs) {
  if (delayMs === 0) {
    from.pipe(to);
    return;
  }
  // Timers of equal length end in the order in which they began.
  from.on('data', (bytes) => { setTimeout(() => { if (!to.destroyed) to.write(bytes); }, delayMs); });
  from.on('end', () => { setTimeout(() => { to.end(); }, delayMs); });
}
