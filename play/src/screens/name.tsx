// Asks for a name once, after the first game.
import { useState } from 'preact/hooks';
import { callHouse, me, showToast } from '../house.ts';
import type { Me } from '../model.ts';
import { settings } from '../settings.ts';
import { say } from '../words.ts';

export async function rename(name: string): Promise<boolean> {
  const now = await callHouse<Me>('PATCH /v1/me', { body: { name } });
  if (now) { me.value = now; showToast(say('saved')); }
  return now !== null;
}

/** Returns whether the first page asks for a name. */
export function asksName(): boolean {
  return settings.played.value && !settings.named.value;
}

/** The question for a name, asked once after the first game. */
export function NameAsk() {
  const [name, setName] = useState('');
  if (!asksName()) return null;
  return (
    <form class="name-ask" onSubmit={(event) => {
      event.preventDefault();
      void rename(name.trim()).then((ok) => { if (ok) settings.named.value = true; });
    }}>
      <label><span>{say('name_ask')}</span><input value={name} maxLength={24} autocomplete="nickname" onInput={(event) => setName((event.target as HTMLInputElement).value)} /></label>
      <button type="submit" class="plain" disabled={name.trim().length < 2}>{say('save')}</button>
      <button type="button" class="plain" onClick={() => { settings.named.value = true; }}>{say('later')}</button>
    </form>
  );
}
