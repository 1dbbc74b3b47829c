// The account: the player's name and picture, and the sign-in methods. A guest may protect it with a
// password, or sign in to another account; a player with a password may change it, sign out, export all data,
// and delete the account.
import { useEffect, useState } from 'preact/hooks';
import { callHouse, client, me, showToast, tellRefusal, wallet } from '../house.ts';
import type { Me } from '../model.ts';
import { Avatar } from '../parts/index.tsx';
import { coinsText, say as common } from '../words.ts';
import { say } from './account_words.ts';
import { rename } from './name.tsx';

const PASSWORD_MIN = 8;

interface SignInMethods { password_set_at: string | null; identities: unknown[] }

/** The account sheet, reset for each player who signs in. */
export function Account() {
  return <SignedInAccount key={me.value?.id ?? ''} />;
}

function SignedInAccount() {
  const [isProtected, setProtected] = useState<boolean | null>(null);
  useEffect(() => {
    void callHouse<SignInMethods>('GET /v1/me/sign-in-methods', {}, true).then((got) => {
      if (got) setProtected(got.password_set_at !== null || got.identities.length > 0);
    });
  }, []);
  return (
    <section class="account">
      <h3>{common('account')}</h3>
      <p class="account-who"><b>{me.value?.name ?? ' '}</b>
        {isProtected === null ? null : <span class={`badge ${isProtected ? 'ok' : ''}`}>{say(isProtected ? 'protected' : 'guest')}</span>}</p>
      <NameForm />
      <PictureChoice />
      {isProtected === true ? <ProtectedAccount /> : null}
      {isProtected === false ? <><SignIn /><SetPassword onDone={() => setProtected(true)} /><AccountData has={false} /></> : null}
    </section>
  );
}

function NameForm() {
  const [name, setName] = useState(me.value?.name ?? '');
  return (
    <form onSubmit={(event) => { event.preventDefault(); void rename(name.trim()); }}>
      <label>{common('name_label')}<input value={name} maxLength={24} autocomplete="nickname" onInput={(event) => setName(event.currentTarget.value)} /></label>
      <button type="submit" class="plain" disabled={name.trim() === '' || name.trim() === me.value?.name}>{common('save')}</button>
    </form>
  );
}

function PictureChoice() {
  const [pictures, setPictures] = useState<string[]>([]);
  useEffect(() => {
    void callHouse<{ items: string[] }>('GET /v1/avatars', {}, true).then((got) => { if (got) setPictures(got.items); });
  }, []);
  const choose = async (avatar: string) => {
    const now = await callHouse<Me>('PATCH /v1/me', { body: { avatar } });
    if (now) me.value = now;
  };
  return (
    <div class="pictures" role="group" aria-label={common('avatar')}>
      {pictures.map((picture) => (
        <button type="button" key={picture} aria-label={picture} aria-pressed={me.value?.avatar === picture} onClick={() => void choose(picture)}>
          <Avatar name={me.value?.name ?? picture} picture={picture} /></button>
      ))}
    </div>
  );
}

function Password({ value, onInput, label, autocomplete, isNew = false }:
  { value: string; onInput: (value: string) => void; label: string; autocomplete: 'new-password' | 'current-password'; isNew?: boolean }) {
  return (
    <label>{label}<input type="password" value={value} maxLength={128} autocomplete={autocomplete} onInput={(event) => onInput(event.currentTarget.value)} />
      {isNew && value.length < PASSWORD_MIN ? <small>{say('password_short', { n: PASSWORD_MIN })}</small> : null}</label>
  );
}

/** The form for a first password. */
function SetPassword({ onDone }: { onDone: () => void }) {
  const [password, setPassword] = useState('');
  const protect = async () => {
    const shown = await client.proveByDevice();
    if (!shown.ok) { tellRefusal(shown.problem.code, shown.problem.detail); return; }
    const now = await callHouse<Me>('POST /v1/me/password', { headers: { 'account-proof': shown.data.proof }, body: { name: me.value?.name ?? '', password } });
    if (!now) return;
    me.value = now;
    showToast(common('saved'));
    onDone();
  };
  return (
    <form onSubmit={(event) => { event.preventDefault(); void protect(); }}>
      <p>{common('password_note')}</p>
      <Password label={common('password_label')} value={password} onInput={setPassword} autocomplete="new-password" isNew />
      <button type="submit" class="plain" disabled={password.length < PASSWORD_MIN}>{common('password_set')}</button>
    </form>
  );
}

/** The sign-in of a player with a name and password; a guest with coins is told that they stay behind. */
function SignIn() {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const held = wallet.value ?? 0;
  const enter = async () => {
    const answer = await client.signIn('/v1/sign-in/password', { name: name.trim(), password });
    if (answer.ok) showToast(say('signed_in', { name: name.trim() }));
    else tellRefusal(answer.problem.code, answer.problem.detail);
  };
  return (
    <details>
      <summary>{common('sign_in_note')}</summary>
      <form onSubmit={(event) => { event.preventDefault(); void enter(); }}>
        {held > 0 ? <p class="warning" role="note">{say('guest_left', { name: me.value?.name ?? '', coins: coinsText(held) })}</p> : null}
        <label>{common('name_label')}<input value={name} maxLength={24} autocomplete="username" onInput={(event) => setName(event.currentTarget.value)} /></label>
        <Password label={common('password_label')} value={password} onInput={setPassword} autocomplete="current-password" />
        <button type="submit" class="plain" disabled={name.trim() === '' || password === ''}>{common('sign_in')}</button>
      </form>
    </details>
  );
}

/** The options of an account with a password. */
function ProtectedAccount() {
  return (
    <>
      <button type="button" class="plain" onClick={() => void signOut()}>{say('sign_out')}</button>
      <ChangePassword />
      <AccountData has />
    </>
  );
}

function ChangePassword() {
  const [before, setBefore] = useState('');
  const [password, setPassword] = useState('');
  const change = async () => {
    const done = await callHouse<unknown>('PUT /v1/me/password', { body: { current_password: before, password } });
    if (done === null) return;
    setBefore('');
    setPassword('');
    showToast(common('saved'));
  };
  return (
    <details>
      <summary>{say('change')}</summary>
      <form onSubmit={(event) => { event.preventDefault(); void change(); }}>
        <p>{say('change_note')}</p>
        <Password label={say('password_now')} value={before} onInput={setBefore} autocomplete="current-password" />
        <Password label={say('password_new')} value={password} onInput={setPassword} autocomplete="new-password" isNew />
        <button type="submit" class="plain" disabled={before === '' || password.length < PASSWORD_MIN}>{say('change')}</button>
      </form>
    </details>
  );
}

/**
 * Export and deletion. With `has`, a password proves the ownership of the account; otherwise the device does.
 */
function AccountData({ has }: { has: boolean }) {
  return (
    <details>
      <summary>{say('more')}</summary>
      <button type="button" class="plain" onClick={() => void exportData()}>{say('export')}</button>
      <DeleteAccount has={has} />
    </details>
  );
}

async function exportData() {
  const all = await callHouse<unknown>('GET /v1/me/export');
  if (all === null) return;
  const address = URL.createObjectURL(new Blob([JSON.stringify(all, null, 2)], { type: 'application/json' }));
  const link = Object.assign(document.createElement('a'), { href: address, download: 'bahay.json' });
  link.click();
  URL.revokeObjectURL(address);
}

function DeleteAccount({ has }: { has: boolean }) {
  const [password, setPassword] = useState('');
  const [isSure, setSure] = useState(false);
  const end = async () => {
    const shown = has ? await callHouse<{ proof: string }>('POST /v1/me/proof', { body: { by: 'password', password } }) : await proveByDevice();
    if (!shown) return;
    const done = await callHouse<unknown>('DELETE /v1/me', { headers: { 'account-proof': shown.proof } });
    if (done !== null) forget();
  };
  return (
    <form onSubmit={(event) => { event.preventDefault(); if (isSure) void end(); else setSure(true); }}>
      <p>{say('end_note')}</p>
      {has ? <Password label={say('password_now')} value={password} onInput={setPassword} autocomplete="current-password" /> : null}
      <button type="submit" class="plain warn" disabled={has && password === ''}>{say(isSure ? 'end_sure' : 'end')}</button>
    </form>
  );
}

async function proveByDevice(): Promise<{ proof: string } | null> {
  const shown = await client.proveByDevice();
  if (shown.ok) return shown.data;
  tellRefusal(shown.problem.code, shown.problem.detail);
  return null;
}

async function signOut() {
  const answer = await client.signOut();
  if (answer.ok) location.assign('/play');
  else tellRefusal(answer.problem.code, answer.problem.detail);
}

function forget() {
  client.forget();
  location.assign('/play');
}
