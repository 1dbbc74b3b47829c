// What the player chooses for this device, its name and picture, and a password to come back by.
import { useEffect, useState } from 'preact/hooks';
import { GAMES } from '../games/list.ts';
import { ask, client, me, tell } from '../house.ts';
import type { Me } from '../model.ts';
import { Avatar, Choice, Sheet, Toggle } from '../parts/index.tsx';
import { refusalText } from '../refusals.ts';
import { choose, hintsFor, settings, showHints } from '../settings.ts';
import { sound } from '../sound.ts';
import { language, say, type Language } from '../words.ts';

/** `kind`: the game of the table, whose hints are meant; without a table those of all games. */
export function SettingsSheet({ onClose, whole = false, kind = null }: { onClose: () => void; whole?: boolean; kind?: string | null }) {
  const kinds = kind === null ? GAMES.map((game) => game.kind) : [kind];
  return (
    <Sheet title={say('settings')} onClose={onClose}>
      <div class="list">
        <Choice<Language> label={say('set_language')} chosen={language.value} onChoose={choose} of={[['en', 'English'], ['fil', 'Filipino']]} />
        <Toggle label={say('set_sound')} on={settings.sound.value} onChange={(on) => { settings.sound.value = on; if (on) sound.chip(); }} />
        <Toggle label={say('set_four_colours')} on={settings.fourColours.value} onChange={(on) => { settings.fourColours.value = on; }} />
        <Toggle label={say('set_large_cards')} on={settings.largeCards.value} onChange={(on) => { settings.largeCards.value = on; }} />
        <Toggle label={say('set_still')} on={settings.still.value} onChange={(on) => { settings.still.value = on; }} />
        <Toggle label={say('set_hints')} on={kinds.some(hintsFor)} onChange={(on) => { for (const one of kinds) showHints(one, on); }} />
        {whole ? <Account /> : null}
      </div>
    </Sheet>
  );
}

async function rename(name: string): Promise<boolean> {
  const now = await ask<Me>('PATCH /v1/me', { body: { name } });
  if (now) { me.value = now; tell(say('saved')); }
  return now !== null;
}

function Account() {
  const [name, setName] = useState(me.value?.name ?? '');
  const [password, setPassword] = useState('');
  const [pictures, setPictures] = useState<string[]>([]);
  const [has, setHas] = useState<boolean | null>(null);
  useEffect(() => {
    void ask<{ items: string[] }>('GET /v1/avatars', {}, true).then((got) => { if (got) setPictures(got.items); });
    void ask<{ password_set_at: string | null }>('GET /v1/me/ways-in', {}, true).then((got) => { if (got) setHas(got.password_set_at !== null); });
  }, []);
  const protect = async () => {
    const shown = await client.proveByDevice();
    if (!shown.ok) { tell(refusalText(shown.problem.code, shown.problem.detail)); return; }
    const headers = { 'account-proof': shown.data.proof };
    const now = await ask<Me>('POST /v1/me/password', { headers, body: { name: name.trim(), password } });
    if (now) { me.value = now; setHas(true); setPassword(''); tell(say('saved')); }
  };
  return (
    <section class="account">
      <h3>{say('account')}</h3>
      <form onSubmit={(event) => { event.preventDefault(); void rename(name.trim()); }}>
        <label>{say('name_label')}<input value={name} maxLength={24} autocomplete="nickname" onInput={(event) => setName((event.target as HTMLInputElement).value)} /></label>
        <button type="submit" class="plain" disabled={name.trim() === '' || name.trim() === me.value?.name}>{say('save')}</button>
      </form>
      <div class="pictures" role="group" aria-label={say('avatar')}>
        {pictures.map((picture) => (
          <button type="button" key={picture} aria-label={picture} aria-pressed={me.value?.avatar === picture}
            onClick={() => { void ask<Me>('PATCH /v1/me', { body: { avatar: picture } }).then((now) => { if (now) me.value = now; }); }}>
            <Avatar name={picture} picture={picture} /></button>
        ))}
      </div>
      {has === false ? <SignIn /> : null}
      {has === false ? (
        <form onSubmit={(event) => { event.preventDefault(); void protect(); }}>
          <p>{say('password_note')}</p>
          <label>{say('password_label')}<input type="password" value={password} minLength={8} maxLength={128} autocomplete="new-password"
            onInput={(event) => setPassword((event.target as HTMLInputElement).value)} /></label>
          <button type="submit" class="plain" disabled={password.length < 8}>{say('password_set')}</button>
        </form>
      ) : null}
    </section>
  );
}

/** For who has played elsewhere, with a name and a password. */
function SignIn() {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const enter = async () => {
    const answer = await client.signIn('/v1/sign-in/password', { name: name.trim(), password });
    if (answer.ok) { tell(say('saved')); setPassword(''); }
    else tell(refusalText(answer.problem.code, answer.problem.detail));
  };
  return (
    <details>
      <summary>{say('sign_in_note')}</summary>
      <form onSubmit={(event) => { event.preventDefault(); void enter(); }}>
        <label>{say('name_label')}<input value={name} maxLength={24} autocomplete="username" onInput={(event) => setName((event.target as HTMLInputElement).value)} /></label>
        <label>{say('password_label')}<input type="password" value={password} maxLength={128} autocomplete="current-password"
          onInput={(event) => setPassword((event.target as HTMLInputElement).value)} /></label>
        <button type="submit" class="plain" disabled={name.trim() === '' || password === ''}>{say('sign_in')}</button>
      </form>
    </details>
  );
}

/** Asked once, after the first game. */
export function NameAsk() {
  const [name, setName] = useState('');
  if (settings.named.value || !settings.played.value) return null;
  return (
    <form class="name-ask" onSubmit={(event) => {
      event.preventDefault();
      void rename(name.trim()).then((ok) => { if (ok) settings.named.value = true; });
    }}>
      <label>{say('name_ask')}<input value={name} maxLength={24} autocomplete="nickname" onInput={(event) => setName((event.target as HTMLInputElement).value)} /></label>
      <button type="submit" class="plain" disabled={name.trim().length < 2}>{say('save')}</button>
      <button type="button" class="plain" onClick={() => { settings.named.value = true; }}>{say('later')}</button>
    </form>
  );
}
