// The rules of Tong-its for players, with the table's switches.
import { Face } from '../../cards.tsx';
import type { Terms } from '../../model.ts';
import type { Example, Pair, RuleSection, RulesPage } from '../../rules.tsx';
import type { Rules } from './types.ts';

/** The usual rules, without a table. */
const USUAL_RULES = {
  jokers: false, dump_addable: false, secret_run_min: 5, bahay: false, spread: false, fight_blocked_by: 'anyone',
  counts: { normal: 1, tongits: 1, special: 1, secret: 1, challenge: 2, burned: 1 },
};

const COUNTS: Record<string, Pair> = {
  normal: ['each loser', 'bawat talo'],
  tongits: ['for Tongits', 'para sa Tongits'],
  special: ['for each ace and king of the winner, in hand or put down by the winner', 'sa bawat alas at hari ng nanalo, nasa kamay o siya ang naglapag'],
  secret: ['for each secret meld of the winner', 'sa bawat sikretong bahay ng nanalo'],
  challenge: ['if you challenged or fought and lost', 'kapag sumabay o lumaban at natalo'],
  burned: ['if you are burned', 'kapag sunog ka'],
  fight: ['for a fight that nobody challenged', 'para sa laban na walang sumabay'],
  stock: ['when the stock is out', 'kapag naubos ang bunutan'],
  zero_count_fight: ['for a fight with no points at all', 'para sa labang walang puntos'],
};

export function rules(terms: Terms | null): RulesPage {
  const switches = { ...USUAL_RULES, ...terms?.rules } as typeof USUAL_RULES & Partial<Rules>;
  return { sections: sectionsOf(switches, terms), Piece: ({ of }) => <span class="card mini"><Face card={of} small named /></span> };
}

function sectionsOf(switches: typeof USUAL_RULES, terms: Terms | null): RuleSection[] {
  const { jokers, dump_addable, secret_run_min, bahay, spread, fight_blocked_by, counts } = switches;
  const secret: Example[] = [
    { pieces: ['9C', '9D', '9H', '9S'], name: ['Secret: four of a rank', 'Sikreto: apat na magkapareho'], note: ['as long as it stays in your hand', 'habang nasa kamay mo'] },
    ...secret_run_min > 0 ? [{
      pieces: ['3S', '4S', '5S', '6S', '7S'], name: [`Secret: a run of ${secret_run_min} or more`, `Sikreto: ${secret_run_min} o higit pang sunod`] as Pair,
      note: ['as long as it stays in your hand', 'habang nasa kamay mo'] as Pair,
    }] : [],
  ];
  const sections: RuleSection[] = [
    {
      title: ['What it is about', 'Ano ang layunin'],
      text: [
        ['Three players, twelve cards each; the one who begins has thirteen. Bring your cards into melds. Cards that are left over cost points.',
          'Tatlong manlalaro, tig-12 baraha; 13 sa mauuna. Gawing bahay ang mga baraha mo. Puntos ang mga natitira.'],
        ['You win at once when every card of yours is in a meld: Tongits. Else the fewest points win, in a fight or when the stock is out.',
          'Panalo agad kapag nasa bahay lahat ng baraha mo: Tongits. Kung hindi, panalo ang pinakakaunting puntos, sa laban o kapag naubos ang bunutan.'],
      ],
    },
    {
      title: ['Melds', 'Mga bahay'],
      text: [['The ace is low: A-2-3 is a run, Q-K-A is none.', 'Mababa ang alas: sunod ang A-2-3, hindi ang Q-K-A.']],
      examples: [
        { pieces: ['7C', '7H', '7S'], name: ['Set', 'Magkakapareho'], note: ['three or four of one rank', 'tatlo o apat na iisang ranggo'] },
        { pieces: ['4H', '5H', '6H'], name: ['Run', 'Sunod-sunod'], note: ['three or more of one suit in sequence', 'tatlo o higit pa, iisang suit, magkakasunod'] },
        ...secret,
      ],
    },
    {
      title: ['Your turn', 'Ang turno mo'],
      text: [
        ['1. Draw from the stock, or chow, or fight.', '1. Bumunot, o mag-chow, o lumaban.'],
        ['Chow: take the top discard if it makes a meld with two or more cards of your hand. The meld is laid down at once.',
          'Chow: kunin ang huling tapon kung mabubuo nito ang bahay sa dalawa o higit pang baraha mo. Ilalapag agad ang bahay.'],
        ['2. Drop melds and add cards, as often as you like. You need not.', '2. Magbaba ng bahay at magsapaw, kahit ilan. Hindi pilit.'],
        ['Drop: lay a meld of your hand on the table. From then on you are open.', 'Ibaba: ilapag ang bahay mula sa kamay. Bukas ka na mula noon.'],
        ['Sapaw: add a card to any meld that lies on the table, also to another player’s.', 'Sapaw: idagdag ang baraha sa alinmang bahay sa mesa, pati sa bahay ng iba.'],
        ['3. Dump one card. That ends your turn.', '3. Magtapon ng isa. Tapos na ang turno mo.'],
        ...dump_addable ? [] : [['A card that fits a meld on the table may not be dumped: add it.', 'Hindi puwedeng itapon ang barahang kasya sa bahay sa mesa: isapaw ito.'] as Pair],
        ...bahay ? [['A secret meld may be laid face down. It stays secret, and you are not burned.', 'Puwedeng itaob ang sikretong bahay. Sikreto pa rin, at hindi ka sunog.'] as Pair] : [],
      ],
    },
    {
      title: ['Points', 'Puntos'],
      text: [['Ace 1, two to ten their number, jack, queen and king 10. Melds count nothing, also those in your hand.',
        'Alas 1, dalawa hanggang sampu ayon sa numero, J, Q at K ay 10. Walang puntos ang bahay, pati ang nasa kamay.']],
    },
    {
      title: ['Burned', 'Sunog'],
      text: [['Whoever has laid no meld, and holds no secret one, is burned at the end: the whole hand counts, and it costs more.',
        'Sunog ang walang naibabang bahay at walang sikretong bahay: bilang lahat ng baraha, at mas mahal ang bayad.']],
    },
    {
      title: ['Fight', 'Laban'],
      text: [
        ['At the beginning of your turn, before you draw, if you are open. The others who are open challenge or fold. Nobody challenges: you win. Else the fewest points win; in a tie the challenger does.',
          'Sa simula ng turno mo, bago bumunot, kung bukas ka. Sasabay o titiklop ang ibang bukas. Walang sumabay: panalo ka. Kung mayroon, panalo ang pinakakaunti; kapag tabla, ang sumabay.'],
        fight_blocked_by === 'opponents'
          ? ['Has another player added a card to a meld of yours since your last turn, you may not fight in this one.', 'Kapag may ibang nagsapaw sa bahay mo mula noong huli mong turno, hindi ka puwedeng lumaban ngayon.']
          : ['Was a card added to a meld of yours since your last turn, also by yourself, you may not fight in this one. So sapaw is also a way to stop a fight.',
            'Kapag may nasapaw sa bahay mo mula noong huli mong turno, kahit ikaw, hindi ka puwedeng lumaban ngayon. Kaya panghadlang din ang sapaw.'],
      ],
    },
    {
      title: ['When the stock is out', 'Kapag naubos ang bunutan'],
      text: [['The turn is played to its end. Then the fewest points win, of all who are not burned.', 'Tatapusin ang turno. Panalo ang pinakakaunting puntos sa mga hindi sunog.']],
    },
    {
      title: ['Who pays', 'Sino ang magbabayad'],
      text: [
        ['The losers pay the winner, counted in bets:', 'Ang mga talo ang magbabayad sa nanalo, bilang sa taya:'],
        ...Object.entries(counts).flatMap(([name, count]): Pair[] => {
          const pair = COUNTS[name];
          return pair && count > 0 ? [[`· ${count} ${pair[0]}`, `· ${count} ${pair[1]}`]] : [];
        }),
        ...spread ? [['Tongits as your very first action is a Spread. It pays as Tongits and takes the POT.', 'Spread ang Tongits sa pinakauna mong galaw. Bayad-Tongits, at kukunin ang POT.'] as Pair] : [],
      ],
    },
  ];
  if (jokers) {
    sections.push({
      title: ['Jokers', 'Mga joker'],
      text: [['One joker may stand in a meld for a card that is missing. It counts no points and is never dumped.', 'Puwedeng pumalit ang isang joker sa kulang na baraha ng bahay. Walang puntos at hindi itinatapon.']],
      examples: [{ pieces: ['5S', 'X1', '7S'], name: ['Run with a joker', 'Sunod na may joker'] }],
    });
  }
  const toWin = terms?.hits?.to_win ?? (terms ? null : 2);
  if (toWin !== null) {
    sections.push({
      title: ['Crown and POT', 'Korona at POT'],
      text: [[`Before each game everybody puts one bet into the POT. The winner wears the crown; ${toWin} wins in a row at this table take the whole POT.`,
        `Bago bawat laro, maglalagay ang lahat ng isang taya sa POT. Suot ng nanalo ang korona; ang ${toWin} sunod na panalo sa mesang ito ang kukuha ng buong POT.`]],
    });
  }
  sections.push({
    title: ['Clock and lost line', 'Orasan at putol na linya'],
    text: [['When your time is up the table plays for you: it draws, dumps the highest card, or folds. When you are gone for long, the AI plays until you are back. The result is yours.',
      'Kapag ubos ang oras mo, ang mesa ang gagalaw: bubunot, itatapon ang pinakamataas, o titiklop. Kapag matagal kang wala, AI ang maglalaro hanggang bumalik ka. Sa iyo ang resulta.']],
  });
  return sections;
}
