// The faces that players send each other, drawn as SVG because not every machine's fonts have them.
import type { JSX } from 'preact';

const EYES = <><circle cx="11" cy="13" r="2" /><circle cx="21" cy="13" r="2" /></>;
const FACES: Record<string, JSX.Element> = {
  emoji_smile: <>{EYES}<path class="s" d="M9 19c2 5 12 5 14 0" /></>,
  emoji_laugh: <><path class="s" d="m8 14 3-3 3 3M18 14l3-3 3 3" /><path d="M8 18h16c0 5-4 8-8 8s-8-3-8-8Z" /></>,
  emoji_cry: <>{EYES}<path class="s" d="M10 24c2-4 10-4 12 0" /><path class="w" d="M10 16c3 4 1 7-1 7s-3-3 1-7Z" /></>,
  emoji_angry: <>{EYES}<path class="s" d="m8 9 6 3M24 9l-6 3M10 23c2-3 10-3 12 0" /></>,
  emoji_surprised: <>{EYES}<ellipse cx="16" cy="22" rx="3.500" ry="4.500" /><path class="s" d="M8 9c1-1 4-1 5 0M19 9c1-1 4-1 5 0" /></>,
  emoji_thinking: <>{EYES}<path class="s" d="M11 21c3-1 6-1 9-3M8 9c2-2 4-2 6-1" /><path class="s" d="M12 28c-1-4 3-5 5-4" /></>,
  emoji_sleepy: <><path class="s" d="M8 14c1 2 5 2 6 0M18 14c1 2 5 2 6 0" /><ellipse cx="16" cy="22" rx="3" ry="2.500" /><path class="s" d="M22 4h5l-5 6h5" /></>,
  emoji_heart: <path class="heart" d="M16 27C7 20 3 15 3 10a6 6 0 0 1 7-6c3 0 5 2 6 4 1-2 3-4 6-4a6 6 0 0 1 7 6c0 5-4 10-13 17Z" />,
  emoji_clap: <><path class="skin" d="m6 18 7-9c1-2 4 0 3 2l5-5c2-1 4 1 2 3l1 9c0 6-4 9-9 9-5 1-9-4-9-9Z" /><path class="s" d="M24 4l-2 4M29 8l-4 2M19 2v4" /></>,
  emoji_fire: <><path class="fire" d="M16 2c2 6 9 9 9 17a9 9 0 0 1-18 0c0-4 2-6 4-8 0 3 1 4 2 5 2-4 0-9 3-14Z" /><path class="fire-in" d="M16 15c1 3 5 5 5 9a5 5 0 0 1-10 0c0-3 2-4 3-6 0 2 1 2 1 3 1-2 0-4 1-6Z" /></>,
};

export function Face({ name }: { name: string }) {
  const bare = name === 'emoji_heart' || name === 'emoji_clap' || name === 'emoji_fire';
  return <svg class="emoji" viewBox="0 0 32 32" aria-hidden="true">{bare ? null : <circle class="skin" cx="16" cy="16" r="14" />}{FACES[name]}</svg>;
}
