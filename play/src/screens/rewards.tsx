// The grants of the house: the daily reward, and relief for players without coins.
import { useEffect, useState } from 'preact/hooks';
import { ask, refreshRewards, refreshWallet, rewards, tell } from '../house.ts';
import { Coin, Sheet } from '../parts/index.tsx';
import { sound } from '../sound.ts';
import { coins, say } from '../words.ts';

/** Returns an idempotency key for one press of the button; a retry uses the same one. */
function key(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function RewardsSheet({ onClose }: { onClose: () => void }) {
  const [busy, setBusy] = useState(false);
  useEffect(() => { void refreshRewards(); }, []);
  const claim = async (what: 'daily' | 'relief') => {
    setBusy(true);
    const got = await ask<{ amount: number }>(`POST /v1/me/rewards/${what}`, { headers: { 'Idempotency-Key': key() } });
    if (got) { tell(say('got_coins', { coins: coins(got.amount) })); sound.win(); }
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
            <p class="reward-amount"><Coin /> {coins(now.daily.amount)}</p>
            <button type="button" class="act gold" disabled={busy || !now.daily.claimable} onClick={() => void claim('daily')}>
              {now.daily.claimable ? say('claim', { coins: coins(now.daily.amount) }) : say('claimed')}</button>
          </section>
          <section class="reward">
            <h3>{say('relief')}</h3>
            <p>{say('relief_note', { floor: coins(now.relief.floor), n: now.relief.left_today })}</p>
            <button type="button" class="act" disabled={busy || !now.relief.claimable} onClick={() => void claim('relief')}>
              {say('claim', { coins: coins(now.relief.amount) })}</button>
          </section>
        </div>
      )}
    </Sheet>
  );
}
