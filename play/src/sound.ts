// The sounds of a table, synthesized by the browser without downloads. Off by default.
import { settings } from './settings.ts';

let context: AudioContext | null = null;

function openAudio(): AudioContext | null {
  if (!settings.sound.value || !('AudioContext' in globalThis)) return null;
  context ??= new AudioContext();
  if (context.state === 'suspended') void context.resume();
  return context;
}

/** Plays a fading tone, `after` seconds from now. */
function playTone(pitch: number, length: number, loud: number, after = 0, kind: OscillatorType = 'sine') {
  const audio = openAudio();
  if (!audio) return;
  const at = audio.currentTime + after;
  const wave = audio.createOscillator();
  const volume = audio.createGain();
  wave.type = kind;
  wave.frequency.value = pitch;
  volume.gain.setValueAtTime(loud, at);
  volume.gain.exponentialRampToValueAtTime(0.0001, at + length);
  wave.connect(volume).connect(audio.destination);
  wave.start(at);
  wave.stop(at + length);
}

/** Plays a short rustle, as of paper on cloth. */
function playRustle(length: number, pitch: number, loud: number) {
  const audio = openAudio();
  if (!audio) return;
  const noise = audio.createBuffer(1, audio.sampleRate * length, audio.sampleRate);
  const samples = noise.getChannelData(0);
  for (let i = 0; i < samples.length; i += 1) samples[i] = (Math.random() * 2 - 1) * (1 - i / samples.length) ** 2;
  const source = audio.createBufferSource();
  const band = audio.createBiquadFilter();
  const volume = audio.createGain();
  source.buffer = noise;
  band.type = 'bandpass';
  band.frequency.value = pitch;
  volume.gain.value = loud;
  source.connect(band).connect(volume).connect(audio.destination);
  source.start();
}

export const sound = {
  card: () => playRustle(0.09, 2600, 0.5),
  meld: () => { playRustle(0.12, 1800, 0.5); playTone(520, 0.12, 0.06, 0.03); },
  chip: () => { playTone(2100, 0.07, 0.08, 0, 'triangle'); playTone(2900, 0.05, 0.05, 0.03, 'triangle'); },
  turn: () => { playTone(660, 0.16, 0.08); playTone(880, 0.2, 0.08, 0.09); },
  tick: () => playTone(1200, 0.04, 0.06, 0, 'square'),
  fight: () => { playTone(220, 0.3, 0.12, 0, 'sawtooth'); playTone(330, 0.3, 0.1, 0.12, 'sawtooth'); },
  win: () => [523, 659, 784, 1047].forEach((pitch, i) => playTone(pitch, 0.35, 0.1, i * 0.11, 'triangle')),
  lose: () => [392, 330, 262].forEach((pitch, i) => playTone(pitch, 0.3, 0.07, i * 0.13, 'triangle')),
};

/** Vibrates, if the device can. */
export function vibrate(pattern: number | number[]) {
  if (settings.still.value) return;
  navigator.vibrate?.(pattern);
}
