// The rules of tournaments in short, with the numbers of docs/rules/tournaments.md.
import { Sheet } from '../parts/index.tsx';
import { createSayer, say } from '../words.ts';
import { word as common } from './words.ts';

const RULES = {
  '1.1': ['The terms shown before you register never change.', 'Hindi nagbabago ang mga kondisyong ipinakita bago ka sumali.'],
  '1.3': ['The price is held when you register: the buy-in goes into the prizes, the fee to the house.', 'Hahawakan ang bayad pagsali mo: sa premyo ang buy-in, sa bahay ang fee.'],
  '1.4': ['Until the start you may withdraw and get everything back. After it the entry stays, and there is no second one.', 'Puwede kang umatras bago magsimula at ibabalik lahat. Pagkatapos noon, hindi na, at walang ikalawang pagsali.'],
  '1.6': ['Where the tournament says so, a pass pays an entry: the house pays the buy-in, and there is no fee.', 'Kung nakasulat sa torneo, pass ang puwedeng bayad: bahay ang magbabayad ng buy-in, at walang fee.'],
  '1.7': ['Bots of the house take part only where the tournament says so, and win neither place nor prize.', 'May bot ng bahay lang kung nakasulat sa torneo, at wala silang puwesto o premyo.'],
  '2.2': ['If too few players register, it is cancelled.', 'Kung kulang ang sumali, kakanselahin.'],
  '2.3': ['Groups and seats are drawn from a secret number whose fingerprint is shown before, and which is published at the end.', 'Binubunot ang grupo at upuan mula sa lihim na numero; ipinapakita ang bakas nito sa simula at inilalabas sa dulo.'],
  '2.5': ['Players of one network or device are kept apart, and so are recent opponents where possible.', 'Pinaghihiwalay ang magkaparehong network o device, at kung puwede, ang mga kamakailang kalaban.'],
  '2.6': ['Tables play for points, without coins. They wait for nobody: the AI plays for who is absent.', 'Puntos ang laban sa mesa, walang barya. Walang hinihintay: AI ang maglalaro para sa wala.'],
  '3.1': ['Sit-and-go: the first of each table goes on until one table is left.', 'Sit-and-go: ang una sa bawat mesa ang tutuloy hanggang isang mesa na lang.'],
  '3.3': ['Knock-out: after each stage the best of each group go on; of equal points the lot decides.', 'Knock-out: pagkatapos ng bawat yugto, tutuloy ang pinakamagaling sa grupo; palabunutan kung tabla.'],
  '4.2': ['Arena: the highest points of a game alone score 2, shared ones 1.', 'Arena: 2 sa nag-iisang pinakamataas sa laro, 1 kung tabla.'],
  '4.3': ['Arena: after two wins in a row wins and draws count double, until a game is not won.', 'Arena: pagkatapos ng dalawang sunod na panalo, doble na hanggang hindi manalo.'],
  '5.3': ['Duplicate: you are compared with the players of your seat at all other tables, at the same cards.', 'Duplicate: ihahambing ka sa mga nasa upuan mo sa ibang mesa, sa parehong baraha.'],
  '6.4': ['The prizes are the pool by the shown shares, to the last hundredth.', 'Hinahati ang premyo ayon sa ipinakitang bahagi, hanggang huling sentimo.'],
  '6.5': ['Players on equal places share their prizes.', 'Naghahati sa premyo ang magkakapareho ng puwesto.'],
  '7.1': ['Cancelled before the first result: everything comes back.', 'Kung kinansela bago ang unang resulta: ibabalik lahat.'],
  '7.2': ['Cancelled later: who is still in gets the fee back, and the pool is divided, half equally and half by standing.', 'Kung kinansela pagkatapos: ibabalik ang fee ng mga kasali pa, at hahatiin ang premyo, kalahati pantay at kalahati ayon sa puwesto.'],
  '8.2': ['The list of results is public, and anybody can recompute places and prizes from it.', 'Bukas sa lahat ang talaan ng resulta, at makukuwenta ng sinuman ang puwesto at premyo.'],
} as const satisfies Record<string, readonly [string, string]>;

const word = createSayer(RULES);

export function TournamentRules({ onClose }: { onClose: () => void }) {
  return (
    <Sheet title={`${say('rules')}: ${say('tournaments')}`} onClose={onClose} wide>
      <dl class="numbered-rules" aria-label={common('rules')}>
        {(Object.keys(RULES) as (keyof typeof RULES)[]).sort().map((number) => (
          <div key={number}><dt>{number}</dt><dd>{word(number)}</dd></div>
        ))}
      </dl>
    </Sheet>
  );
}
