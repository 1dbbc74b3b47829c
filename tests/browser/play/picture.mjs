// Composes the README's picture from three of the scenes' pictures, side by side, with few colours so that it
// stays small. The browser scales and counts colours; the file is written here.
import { readFileSync, writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';

const HEIGHT = 600;
const GAP = 14;
const COLOURS = 160;

export async function compose(browser, from, to, { height: most = HEIGHT, gap = GAP, colours = COLOURS } = {}) {
  const page = await browser.newPage();
  const urls = from.map((path) => `data:image/png;base64,${readFileSync(path).toString('base64')}`);
  const { width, height, palette, pixels } = await page.evaluate(reduce, { urls, HEIGHT: most, GAP: gap, COLOURS: colours });
  await page.close();
  const rows = Buffer.alloc((width + 1) * height);
  const bytes = Buffer.from(pixels, 'base64');
  for (let y = 0; y < height; y += 1) bytes.copy(rows, y * (width + 1) + 1, y * width, (y + 1) * width);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  writeFileSync(to, Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head), chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0)),
  ]));
}

/**
 * Runs in the page: draws the pictures beside each other, and maps each pixel to the nearest palette colour.
 */
async function reduce({ urls, HEIGHT, GAP, COLOURS }) {
  const images = await Promise.all(urls.map(async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    return image;
  }));
  const widths = images.map((image) => Math.round(image.width * HEIGHT / image.height));
  const width = widths.reduce((sum, one) => sum + one, GAP * (images.length - 1));
  const canvas = new OffscreenCanvas(width, HEIGHT);
  const context = canvas.getContext('2d');
  context.fillStyle = '#ffffff';
  context.fillRect(0, 0, width, HEIGHT);
  context.imageSmoothingQuality = 'high';
  let x = 0;
  images.forEach((image, i) => {
    context.drawImage(image, x, 0, widths[i], HEIGHT);
    x += widths[i] + GAP;
  });
  const { data } = context.getImageData(0, 0, width, HEIGHT);
  // Median cut: the box with the widest colours is split until there are enough.
  const counts = new Map();
  for (let i = 0; i < data.length; i += 4) {
    const key = (data[i] >> 2) << 12 | (data[i + 1] >> 2) << 6 | data[i + 2] >> 2;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const colours = [...counts].map(([key, count]) => ({ rgb: [key >> 12 << 2, (key >> 6 & 63) << 2, (key & 63) << 2], count }));
  const range = (box) => [0, 1, 2].map((c) => Math.max(...box.map(({ rgb }) => rgb[c])) - Math.min(...box.map(({ rgb }) => rgb[c])));
  const weigh = (box) => Math.max(...range(box)) * Math.log2(1 + box.reduce((sum, one) => sum + one.count, 0));
  const boxes = [colours];
  while (boxes.length < COLOURS) {
    boxes.sort((a, b) => weigh(b) - weigh(a));
    const box = boxes.shift();
    if (box.length < 2) {
      boxes.push(box);
      break;
    }
    const spread = range(box);
    const channel = spread.indexOf(Math.max(...spread));
    box.sort((a, b) => a.rgb[channel] - b.rgb[channel]);
    const half = box.reduce((sum, one) => sum + one.count, 0) / 2;
    let at = 0;
    for (let sum = 0; at < box.length - 1 && sum < half; at += 1) sum += box[at].count;
    boxes.push(box.slice(0, Math.max(1, at)), box.slice(Math.max(1, at)));
  }
  const palette = boxes.map((box) => {
    const all = box.reduce((sum, one) => sum + one.count, 0);
    return [0, 1, 2].map((c) => Math.round(box.reduce((sum, one) => sum + one.rgb[c] * one.count, 0) / all));
  });
  const nearest = new Map();
  const pixels = new Uint8Array(width * HEIGHT);
  for (let i = 0; i < pixels.length; i += 1) {
    const [r, g, b] = [data[4 * i], data[4 * i + 1], data[4 * i + 2]];
    const key = r << 16 | g << 8 | b;
    let found = nearest.get(key);
    if (found === undefined) {
      let least = Infinity;
      palette.forEach(([pr, pg, pb], place) => {
        const far = (pr - r) ** 2 + (pg - g) ** 2 + (pb - b) ** 2;
        if (far < least) [least, found] = [far, place];
      });
      nearest.set(key, found);
    }
    pixels[i] = found;
  }
  let text = '';
  for (let i = 0; i < pixels.length; i += 8192) text += String.fromCharCode(...pixels.subarray(i, i + 8192));
  return { width, height: HEIGHT, palette, pixels: btoa(text) };
}

const TABLE = Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let i = 0; i < 8; i += 1) value = value & 1 ? 0xedb88320 ^ value >>> 1 : value >>> 1;
  return value >>> 0;
});

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'ascii'), data]);
  let crc = 0xffffffff;
  for (const byte of body) crc = TABLE[(crc ^ byte) & 255] ^ crc >>> 8;
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE((crc ^ 0xffffffff) >>> 0);
  return Buffer.concat([size, body, check]);
}
