// The rules of Tongo (assets) for players. The caller provides the component that draws a piece.
import type { ComponentType } from 'preact';
import type { Terms } from '../../model.ts';
import type { RulesPage } from '../../rules.tsx';

export function rules(terms: Terms | null, Tile: ComponentType<{ card: string; named?: boolean }>): RulesPage {
  const switches = terms?.rules ?? {};
  const number = (name: string, usual: number) => Number(switches[name] ?? usual);
  const chips = number('latinum', 100);
  const share = number('winner_share', 50);
  const rounds = number('rounds_max', 12);
  const all = number('confront_all_rounds', 3);
  const isAdvanced = switches['margins'] === true || switches['leverage'] === true;
  return {
    Piece: ({ of }) => <span class="ta-mini"><Tile card={of} named /></span>,
    sections: [
      {
        title: ['What it is about', 'Ano ang layunin'],
        text: [
          [`You begin with ${chips} chips and four assets. Collect seven of one number or of one colour, and stay in until the pot is shared.`,
            `May ${chips} chips at apat na piyesa ka sa simula. Mag-ipon ng pitong iisang numero o kulay, at manatili hanggang hatiin ang pot.`],
          ['All your chips are at stake: what you pay into the pot is lost unless you get a share of it.', 'Nakataya lahat ng chips mo: talo ang naibayad sa pot kung wala kang makuhang bahagi.'],
        ],
      },
      {
        title: ['A round', 'Isang round'],
        text: [
          ['1. Risking: one player names the risk and the prices. Everybody pays the risk, raises it, or retreats. Who retreats is out and keeps the chips that are left.',
            '1. Pagtaya: may isang magtatakda ng risk at mga presyo. Babayaran ito ng lahat, itataas, o aatras. Wala na ang umatras, at sa kanya ang natirang chips.'],
          ['2. The table turns and stops. You alone see the section before you: swap one piece for free, buy pieces, acquire a surprise, sell your whole hand for a new one.',
            '2. Iikot ang mesa at hihinto. Ikaw lang ang nakakakita sa hanay mo: magpalit ng isa nang libre, bumili, mag-acquire ng sorpresa, o ibenta ang buong kamay kapalit ng bago.'],
          ['3. Confront, or be done. When nobody confronts another round begins.', '3. Humamon, o tapusin. Kung walang humamon, panibagong round.'],
        ],
      },
      {
        title: ['Confront', 'Hamon'],
        text: [
          [`You need seven pieces; in the first ${all} rounds all who are in need seven. Each other player pays the risk, raises it, evades, or retreats. Who evades or retreats ends the confront.`,
            `Kailangan mo ng pitong piyesa; sa unang ${all} round, kailangan ng lahat. Magbabayad ang bawat isa ng risk, itataas ito, iilag, o aatras. Tapos ang hamon kapag may umilag o umatras.`],
          [`If all have paid, all show: the strongest hand takes ${share} % of the pot, and the others who stayed share the rest. The last one in takes all.`,
            `Kapag nagbayad lahat, magpapakita lahat: ${share} % ng pot sa pinakamalakas, hati ang iba sa natira. Sa huling natira ang lahat.`],
          [`There are at most ${rounds} rounds.`, `Hanggang ${rounds} round lang.`],
        ],
      },
      {
        title: ['What hands are worth', 'Ang lakas ng mga hawak'],
        text: [['The highest first. Wilds help from Consortium down. Among equals the higher number, then the better colour, red first.',
          'Pinakamataas ang una. May tulong ang wild mula Consortium pababa. Kapag pantay: mas mataas na numero, saka mas magandang kulay, pula ang una.']],
        examples: [
          { pieces: ['1Ra', '2Ba', '3Ya', '4Ga', '5Pa', '6Oa', '7Ka'], name: ['Full Monopoly', 'Full Monopoly'], note: ['1 to 7, each in another colour', '1 hanggang 7, iba-ibang kulay'] },
          { pieces: ['1Ba', '2Ba', '3Ba', '4Ba', '5Ba', '6Ba', '7Ba'], name: ['Monopoly', 'Monopoly'], note: ['1 to 7 of one colour, or one number in all seven colours', '1 hanggang 7 ng isang kulay, o isang numero sa pitong kulay'] },
          { pieces: ['2Ga', '2Gb', '3Ga', '5Ga', '5Gb', '6Ga', '7Ga'], name: ['Full Consortium', 'Full Consortium'], note: ['seven of one colour or one number', 'pito ng isang kulay o isang numero'] },
          { pieces: ['4Ra', '4Ba', '4Ya', '4Ga', '4Pa', 'W0', 'W1'], name: ['Consortium', 'Consortium'], note: ['the same seven with wilds', 'ganoon din, may wild'] },
          { pieces: ['6Oa', '6Ob', '3Pa', '3Pb'], name: ['Material Continuum', 'Material Continuum'], note: ['two pairs of twins: same number, same colour', 'dalawang pares ng kambal: parehong numero at kulay'] },
          { pieces: ['5Ra', '5Ya', '5Ga', '5Oa', '5Ka'], name: ['Treasury', 'Treasury'], note: ['five of one colour or one number', 'lima ng isang kulay o isang numero'] },
          { pieces: ['7Ra', '2Ra'], name: ['Reserve', 'Reserve'], note: ['two of one colour or one number', 'dalawa ng isang kulay o isang numero'] },
        ],
      },
      {
        title: ['Acquire cards', 'Mga acquire na piyesa'],
        text: [['They are square. Wilds go into your hand; the others are kept apart, at most three, and played in your own assessment.',
          'Parisukat ang mga ito. Sa kamay ang wild; nakatabi ang iba, hanggang tatlo, at nilalaro sa sariling turno.']],
        examples: [
          { pieces: ['W0'], name: ['Wild', 'Wild'], note: ['stands for any asset', 'pumapalit sa kahit anong piyesa'] },
          { pieces: ['F0'], name: ['Free purchase', 'Libreng bili'], note: ['the next purchase costs nothing', 'libre ang susunod na bili'] },
          { pieces: ['V0'], name: ['Reveal', 'Silip'], note: ['look at another section', 'silipin ang ibang hanay'] },
          { pieces: ['D0'], name: ['Dividend', 'Dibidendo'], note: ['takes the purchase price from the pot', 'kukuha ng presyo ng bili sa pot'] },
          { pieces: ['X0'], name: ['Audit', 'Audit'], note: ['pays the risk at once, or you retreat', 'babayad agad ng risk, o aatras ka'] },
        ],
      },
      ...isAdvanced ? [{
        title: ['Margin and leverage', 'Margin at leverage'] as const,
        text: [
          ['In a confront you may raise the risk by a margin and owe the rest, which is nothing if the confront succeeds.', 'Sa hamon, puwedeng itaas ang risk gamit ang margin at utangin ang kulang; wala nang utang kapag natuloy ang hamon.'] as const,
          ['Or pay only a part of the risk by leverage, for the same part of what you win.', 'O bayaran lang ang bahagi ng risk gamit ang leverage, kapalit ng ganoong bahagi ng panalo.'] as const,
        ],
      }] : [],
    ],
  };
}
