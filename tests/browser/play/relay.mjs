// A link between browser and server that can be cut: Chromium keeps open sockets alive when it is told
// that it is offline, so the bytes are stopped here.
import { connect, createServer } from 'node:net';

export async function relayTo(url) {
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
    near.pipe(far).pipe(near);
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
