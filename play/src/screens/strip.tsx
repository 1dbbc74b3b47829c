// The strip on the first page: a game that was left is running, or has ended.
import { ended, reading } from '../ending.tsx';
import { aside, returnToTable, table } from '../house.ts';
import { netOf } from '../result.tsx';
import { say, signed } from '../words.ts';

export function Strip() {
  const state = table.value;
  const over = ended.value;
  if (state && aside.value !== null && state.view.phase.type === 'playing') {
    return (
      <p class="strip" role="status"><span>{say('game_goes_on')}</span>
        <button type="button" class="act gold" onClick={returnToTable}>{say('return')}</button></p>
    );
  }
  if (!over || reading.value) return null;
  const net = over.viewer === null || over.practice ? '' : signed(netOf(over.settlement, over.viewer));
  return (
    <p class="strip" role="status"><span>{say('game_over')} <b>{net}</b></span>
      <button type="button" class="act gold" onClick={() => { reading.value = true; }}>{say('result')}</button></p>
  );
}
