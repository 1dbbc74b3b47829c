// Builds the browser client into play/dist, which is checked in: the server is built with cargo alone.
// The names of the script and the style hold a hash of what is in them, and beside each file lies the
// same compressed as brotli. `--check` builds again and says whether the folder holds just that.
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

const bundled = await build({
  absWorkingDir: here,
  entryPoints: { app: 'src/main.tsx', style: 'src/styles/main.css' },
  outdir: 'dist',
  bundle: true,
  // What is imported on demand is a file of its own, named by what is in it.
  splitting: true,
  chunkNames: 'chunk-[hash]',
  minify: true,
  write: false,
  format: 'esm',
  target: ['es2022', 'chrome109', 'firefox115', 'safari16'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  // One copy of each package, also for what lies outside this folder.
  nodePaths: [join(here, 'node_modules')],
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'warning',
});

const files = new Map();
const names = {};
for (const { path, contents } of bundled.outputFiles) {
  if (basename(path).startsWith('chunk-')) {
    files.set(basename(path), Buffer.from(contents));
    continue;
  }
  const extension = path.endsWith('.css') ? 'css' : 'js';
  const stem = path.endsWith('.css') ? 'style' : 'app';
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 12);
  names[`${stem}.${extension}`] = `${stem}-${hash}.${extension}`;
  files.set(names[`${stem}.${extension}`], Buffer.from(contents));
}
const page = readFileSync(join(here, 'src/index.html'), 'utf8')
  .replace(/\{\{([a-z.]+)\}\}/g, (_, name) => `/play/files/${names[name]}`);
files.set('index.html', Buffer.from(page));

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
    // Versions of the compressor may write the same in other bytes, so what it holds is compared.
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
    writeFileSync(join(out, `${name}.br`), compress(bytes));
  }
}
let sum = 0;
for (const [name, bytes] of files) {
  const compressed = compress(bytes).length;
  sum += compressed;
  console.log(`${name.padEnd(26)} ${String(bytes.length).padStart(8)} bytes, as brotli ${String(compressed).padStart(6)}`);
}
console.log(`${''.padEnd(26)} ${''.padStart(8)}        as brotli ${String(sum).padStart(6)}`);
