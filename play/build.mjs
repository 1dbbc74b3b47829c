// Builds the browser client into play/dist, which is checked in, so that the server is built with cargo
// alone.
//
// The names of scripts, styles and pictures contain a hash of their content; those of the page, its service
// worker and its manifest do not. Each file except pictures has a brotli copy beside it. `--check` builds
// again and compares the folder.
//
// usage: node build.mjs [--check] [--out FOLDER]
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const check = process.argv.includes('--check');
const out = process.argv.includes('--out') ? process.argv.at(-1) : join(here, 'dist');

/** The game whose script the service worker caches from the start. */
const FIRST_GAME = 'tongits';

// Each game is a script of its own, with an optional style; a page loads them on demand.
const entryPoints = { app: 'src/main.tsx', style: 'src/styles/main.css', 'tournaments-style': 'src/styles/tournaments.css' };
const games = readdirSync(join(here, 'src/games'), { withFileTypes: true }).filter((one) => one.isDirectory()).map((one) => one.name).sort();
for (const game of games) {
  const files = readdirSync(join(here, 'src/games', game));
  entryPoints[game] = `src/games/${game}/${files.find((name) => /^index\.tsx?$/.test(name))}`;
  if (files.includes('style.css')) entryPoints[`${game}-style`] = `src/games/${game}/style.css`;
}

const bundled = await build({
  absWorkingDir: here,
  entryPoints,
  outdir: 'dist',
  bundle: true,
  // Code shared by several entry points or imported on demand gets a file named by its content.
  splitting: true,
  chunkNames: 'chunk-[hash]',
  // This module is injected everywhere, so that widely shared code becomes one file.
  inject: ['src/shared.ts'],
  minify: true,
  write: false,
  metafile: true,
  format: 'esm',
  target: ['es2022', 'chrome109', 'firefox115', 'safari16'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  // One copy of each package serves the files outside this folder too.
  nodePaths: [join(here, 'node_modules')],
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'warning',
});

const files = new Map();
const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 12);
// A file is named by its content, so it gets its name after the files that it imports.
const names = {};
const contents = new Map(bundled.outputFiles.map(({ path, text }) => [basename(path), text]));
function nameOf(made, waiting = []) {
  if (waiting.includes(made)) throw new Error(`these import each other: ${[...waiting, made].join(', ')}`);
  if (names[made]) return names[made];
  let text = contents.get(made);
  for (const { path } of bundled.metafile.outputs[`dist/${made}`].imports) {
    text = text.replaceAll(basename(path), nameOf(basename(path), [...waiting, made]));
  }
  const bytes = Buffer.from(text);
  const [stem, extension] = made.replace(/^chunk-.*\./, 'chunk.').split('.');
  names[made] = `${stem}-${hashOf(bytes)}.${extension}`;
  files.set(names[made], bytes);
  return names[made];
}
for (const made of contents.keys()) nameOf(made);

/** Returns the static imports of a file, including indirect ones. */
function importsOf(output, found = new Set()) {
  for (const { path, kind } of bundled.metafile.outputs[output].imports) {
    if (kind !== 'import-statement' || found.has(path)) continue;
    found.add(path);
    importsOf(path, found);
  }
  return found;
}

// The static imports of the script are preloaded beside it instead of after it, and so are those of every
// game.
const ofGames = games.map((game) => importsOf(`dist/${game}.js`));
const parts = new Set([...importsOf('dist/app.js'), ...[...ofGames[0]].filter((part) => ofGames.every((all) => all.has(part)))]);
const address = (name) => `/play/files/${name}`;
const ofGame = (game) => {
  const style = names[`${game}-style.css`];
  return `<meta name="game" data-kind="${game}" data-script="${address(names[`${game}.js`])}"${style ? ` data-style="${address(style)}"` : ''}>`;
};
for (const picture of readdirSync(join(here, 'src/icons')).filter((name) => name.endsWith('.png'))) {
  keepNamed(picture, readFileSync(join(here, 'src/icons', picture)));
}

/** Stores a file under a name with a hash of its content. */
function keepNamed(made, bytes) {
  const [stem, extension] = made.split('.');
  names[made] = `${stem}-${hashOf(bytes)}.${extension}`;
  files.set(names[made], bytes);
}

const filled = {
  ...names,
  parts: [...parts].map((path) => `<link rel="modulepreload" href="${address(names[basename(path)])}">`).sort().join('\n'),
  games: [...games.map(ofGame), `<meta name="tournaments" data-style="${address(names['tournaments-style.css'])}">`].join('\n'),
};
const page = readFileSync(join(here, 'src/index.html'), 'utf8').replace(/\{\{([a-z0-9.-]+)\}\}/g, (_, name) => filled[name]);
files.set('index.html', Buffer.from(page));

// The manifest makes the page installable. It and the page keep their names, because browsers request them
// again.
const icon = (name, sizes, purpose) => ({ src: address(names[`${name}.png`]), sizes, type: 'image/png', purpose });
files.set('manifest.webmanifest', Buffer.from(JSON.stringify({
  name: 'Bahay', short_name: 'Bahay', description: 'Tong-its and Tongo at a good table.', id: '/play', start_url: '/play', scope: '/play',
  display: 'standalone', background_color: '#062628', theme_color: '#062628', categories: ['games'],
  icons: [icon('icon-192', '192x192', 'any'), icon('icon-512', '512x512', 'any'), icon('icon-maskable-512', '512x512', 'maskable')],
}, null, 1)));

// The shell starts the page and the first game. The worker caches it, and further files as they are loaded.
const shell = [...new Set([names['app.js'], names['style.css'], ...[...parts].map((path) => names[basename(path)]), names[`${FIRST_GAME}.js`],
  ...[...importsOf(`dist/${FIRST_GAME}.js`)].map((path) => names[basename(path)])])].sort();
const worker = readFileSync(join(here, 'src/worker.js'), 'utf8').replace('{{shell}}', JSON.stringify(shell))
  .replace('{{version}}', hashOf(Buffer.from([page, ...files.keys()].join())));
files.set('sw.js', Buffer.from(worker));

/** Pictures are already compressed. */
const isCompressed = (name) => !name.endsWith('.png');
const compress = (bytes) => brotliCompressSync(bytes, {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  },
});

if (check) {
  const kept = new Set(readdirSync(out));
  const wrong = [];
  for (const [name, bytes] of files) {
    if (!kept.delete(name) || !readFileSync(join(out, name)).equals(bytes)) wrong.push(name);
    else if (!isCompressed(name)) continue;
    // Versions of the compressor may produce different bytes, so the decompressed contents are compared.
    else if (!kept.delete(`${name}.br`)
      || !brotliDecompressSync(readFileSync(join(out, `${name}.br`))).equals(bytes)) wrong.push(`${name}.br`);
  }
  wrong.push(...kept);
  if (wrong.length > 0) {
    console.error(`play/dist is not what is built from play/src: ${wrong.join(', ')}; run ./dev play build`);
    process.exit(1);
  }
} else {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const [name, bytes] of files) {
    writeFileSync(join(out, name), bytes);
    if (isCompressed(name)) writeFileSync(join(out, `${name}.br`), compress(bytes));
  }
}
let sum = 0;
for (const [name, bytes] of files) {
  const compressed = isCompressed(name) ? compress(bytes).length : bytes.length;
  sum += compressed;
  console.log(`${name.padEnd(26)} ${String(bytes.length).padStart(8)} bytes, as brotli ${String(compressed).padStart(6)}`);
}
console.log(`${''.padEnd(26)} ${''.padStart(8)}        as brotli ${String(sum).padStart(6)}`);
