// The grants of the house: the daily reward, and relief for players without coins.
import { useEffect, useState } from 'preact/hooks';
import { callHouse, refreshRewards, refreshWallet, rewards, showToast } from '../house.ts';
import { Coin, Sheet } from '../parts/index.tsx';
import { sound } from '../sound.ts';
import { coinsText, say } from '../words.ts';

/** Returns an idempotency key for one press of the button; a retry uses the same one. */
function createIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function RewardsSheet({ onClose }: { onClose: () => void }) {
  const [busy, setBusy] = useState(false);
  useEffect(() => { void refreshRewards(); }, []);
  const claim = async (what: 'daily' | 'relief') => {
    setBusy(true);
    const got = await callHouse<{ amount: number }>(`POST /v1/me/rewards/${what}`, { headers: { 'Idempotency-Key': createIdempotencyKey() } });
    if (got) { showToast(say('got_coins', { coins: coinsText(got.amount) })); sound.win(); }
    await Promise.all([refreshRewards(), refreshWallet()]);
    setBusy(false);
  };
  const now = rewards.value;
  return (
    <Sheet title={say('rewards')} onClose={onClose}>
      {now === null ? <p>{say('loading')}</p> : (
        <div class="list">
          <section class="reward">
            <h3>{say('daily')}</h3>
            <p>{say(now.daily.claimable ? 'daily_day' : 'daily_next', { n: now.daily.streak_day })}</p>
            <p class="reward-amount"><Coin /> {coinsText(now.daily.amount)}</p>
            <button type="button" class="act gold" disabled={busy || !now.daily.claimable} onClick={() => void claim('daily')}>
              {now.daily.claimable ? say('claim', { coins: coinsText(now.daily.amount) }) : say('claimed')}</button>
          </section>
          <section class="reward">
            <h3>{say('relief')}</h3>
            <p>{say('relief_note', { floor: coinsText(now.relief.floor), n: now.relief.left_today })}</p>
            <button type="button" class="act" disabled={busy || !now.relief.claimable} onClick={() => void claim('relief')}>
              {say('claim', { coins: coinsText(now.relief.amount) })}</button>
          </section>
        </div>
      )}
    </Sheet>
  );
}
