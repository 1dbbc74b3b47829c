// The strip on the first page: a game that was left is running, or has ended.
import { isResultShown } from '../ending.tsx';
import { leftTable, returnToTable, table } from '../house.ts';
import { netCoins } from '../result.tsx';
import { say, signedCoins } from '../words.ts';
import { finishedGame } from '../overlays.ts';

export function Strip() {
  const state = table.value;
  const over = finishedGame.value;
  if (state && leftTable.value !== null && state.view.phase.type === 'playing') {
    return (
      <p class="strip" role="status"><span>{say('game_goes_on')}</span>
        <button type="button" class="act gold" onClick={returnToTable}>{say('return')}</button></p>
    );
  }
  if (!over || isResultShown.value) return null;
  const net = over.viewer === null || over.practice ? '' : signedCoins(netCoins(over.settlement, over.viewer));
  return (
    <p class="strip" role="status"><span>{say('game_over')} <b>{net}</b></span>
      <button type="button" class="act gold" onClick={() => { isResultShown.value = true; }}>{say('result')}</button></p>
  );
}
