// The rules of Tongo (options) for players. The caller provides the component that draws a die.
import type { ComponentType } from 'preact';
import { Face } from '../../cards.tsx';
import type { Terms } from '../../model.ts';
import type { RulesPage } from '../../rules.tsx';

export function rules(terms: Terms | null, Stone: ComponentType<{ number: number }>): RulesPage {
  const round = Number(terms?.rules['challenge_round'] ?? 3);
  const rounds = Number(terms?.rules['rounds_max'] ?? 20);
  const chips = Number(terms?.rules['chips'] ?? 100);
  return {
    Piece: ({ of }) => of.startsWith('die') ? <span class="die"><Stone number={Number(of.slice(3))} /></span>
      : <span class="card mini"><Face card={of} small named /></span>,
    sections: [
      {
        title: ['What it is about', 'Ano ang layunin'],
        text: [
          ['Everybody pays into the Divine Treasury. The strongest hand in a challenge takes all of it.', 'Lahat ay nagbabayad sa Banal na Yaman. Kukunin lahat ng pinakamalakas sa hamunan.'],
          [`You begin with ${chips} chips and four cards. What you do not spend is yours again.`, `May ${chips} chips at apat na baraha ka sa simula. Sa iyo muli ang hindi nagastos.`],
        ],
      },
      {
        title: ['Matches', 'Mga tugma'],
        text: [['Match your four cards with the cards that lie up at one floor. More of a better kind beats less of it; among equals higher numbers.',
          'Itugma ang apat mong baraha sa mga nakabukas sa isang palapag. Panalo ang mas maraming mas mataas na uri; kapag pantay, mas mataas na numero.']],
        examples: [
          { pieces: ['7H', '7C'], name: ['Pair', 'Pares'], note: ['same number', 'parehong numero'] },
          { pieces: ['7H', '7H'], name: ['Exact pair', 'Eksaktong pares'], note: ['same number and suit', 'parehong numero at suit'] },
          { pieces: ['7H', '7C', 'die7'], name: ['Chain', 'Kadena'], note: ['a pair, and a die of that number at the floor', 'pares, at dado ng numerong iyon sa palapag'] },
          { pieces: ['7H', '7H', 'die7'], name: ['Exact chain', 'Eksaktong kadena'], note: ['the highest', 'ang pinakamataas'] },
        ],
      },
      {
        title: ['Your turn', 'Ang turno mo'],
        text: [
          ['1. Stop the ring at a floor.', '1. Ihinto ang gulong sa isang palapag.'],
          ['2. Pay the risk, which is the sell cost less the buy cost. Or do not: retreat, evade by your token, or fold.', '2. Bayaran ang panganib: halaga ng benta bawas ng bili. O huwag: umatras, umilag gamit ang token, o tumiklop.'],
          ['3. Lower the costs; turn one hidden card up (buy), one open card down (sell), and exchange one; raise the costs; roll where a die faces your floor.',
            '3. Babaan ang halaga; magbukas ng isa (bili), magtaob ng isa (benta), at magpalit ng isa; itaas ang halaga; gumulong kung may dado sa palapag mo.'],
          ['4. End, or challenge.', '4. Tapusin, o humamon.'],
          ['What was turned down is shown to nobody again: remember it.', 'Hindi na ipapakita ang itinaob: tandaan ito.'],
        ],
      },
      {
        title: ['Challenges', 'Mga hamon'],
        text: [
          [`From round ${round} on. Acquire: you claim the open cards of your floor against all. Nobody confronts you: you win without showing.`,
            `Mula ikot ${round}. Angkin: inaangkin mo ang mga nakabukas sa palapag mo laban sa lahat. Walang humamon: panalo ka nang hindi nagpapakita.`],
          ['Confront: you name one player; the others join or fold. All who are in show, and the strongest takes the treasury.',
            'Hamon: pumili ng isang manlalaro; sasali o titiklop ang iba. Magpapakita ang lahat ng kasali, at sa pinakamalakas ang yaman.'],
          [`After round ${rounds} all who are left show.`, `Pagkatapos ng ikot ${rounds}, magpapakita ang lahat ng natira.`],
        ],
      },
      {
        title: ['Once a game', 'Minsan sa laro'],
        text: [
          ['Evade by your token and change cards. Let the buy-in pay for one card.', 'Umilag gamit ang token at magpalit ng baraha. Ipabayad sa buy-in ang isang baraha.'],
          ['Convert reserves: wager all your chips. All others wager as much or fold, and then all show.', 'Mag-reserba: itaya lahat ng chips. Tataya ng ganoon o titiklop ang iba, saka magpapakita lahat.'],
        ],
      },
    ],
  };
}
