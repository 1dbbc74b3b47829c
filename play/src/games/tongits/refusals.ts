// The texts of the refusals of Tong-its, by their stable codes.
import { addRefusals } from '../../refusals.ts';

const PASSED = ['Too late: the table has gone on.', 'Huli na: tuloy na ang mesa.'] as const;

export const REFUSALS: Record<string, readonly [string, string]> = {
  not_dealt: ['The cards are not dealt yet.', 'Hindi pa naipamimigay.'],
  game_over: ['The game is over.', 'Tapos na ang laro.'],
  fight_open: ['A fight goes on: challenge or fold if you are asked.', 'May laban: sumabay o tumiklop kung tinatanong ka.'],
  no_fight: ['There is no fight to answer.', 'Walang laban na sasagutin.'],
  already_answered: ['You have answered the fight.', 'Nasagot mo na ang laban.'],
  not_your_turn: ['It is not your turn.', 'Hindi mo pa turno.'],
  not_draw_phase: ['Draw, chow and fight are for the beginning of a turn.', 'Bunot, chow at laban ay sa simula ng turno.'],
  not_play_phase: ['Draw, chow or fight first.', 'Bumunot, mag-chow o lumaban muna.'],
  nothing_to_chow: ['There is no discard to chow.', 'Walang tapon na mac-chow.'],
  chow_card_not_in_hand: PASSED,
  chow_too_few: ['A chow takes two or more of your cards.', 'Dalawa o higit pang baraha mo ang kailangan sa chow.'],
  chow_no_meld: ['These cards make no meld with the discard.', 'Hindi nabubuo ang mga ito sa tapon.'],
  not_open: ['Who fights has a meld on the table.', 'Dapat may bahay kang nakababa bago lumaban.'],
  fight_blocked: ['Your meld was added to: fight a turn later.', 'Nasapawan ka: sa susunod na turno ang laban.'],
  face_down_off: ['At this table no meld lies face down.', 'Walang itinataob sa mesang ito.'],
  drop_card_not_in_hand: PASSED,
  drop_no_meld: ['These cards are no meld: three of a rank, or three in sequence of a suit.',
    'Hindi bahay ang mga ito: tatlong magkapareho, o tatlong sunod-sunod sa isang suit.'],
  drop_no_secret: ['Only a secret meld lies face down.', 'Sikretong bahay lang ang itinataob.'],
  meld_face_down: ['A meld face down takes no cards.', 'Hindi nasasapawan ang nakataob.'],
  sapaw_card_not_in_hand: PASSED,
  no_such_meld: PASSED,
  sapaw_no_meld: ['This card does not fit that meld.', 'Hindi kasya ang barahang ito sa bahay na iyan.'],
  dump_card_not_in_hand: PASSED,
  card_addable: ['This card fits a meld on the table: sapaw it instead.', 'May masasapawan ang barahang ito: isapaw mo.'],
  joker_dumped: ['A joker is never dumped.', 'Hindi itinatapon ang joker.'],
  not_first_action: ['Before drawing, Tongits is your very first action or none.', 'Bago bumunot, unang galaw lang puwedeng mag-Tongits.'],
  cards_left_over: ['Tongits takes a hand that is all melds.', 'Tongits lang kapag buo lahat ng baraha mo.'],
};

addRefusals('tongits', REFUSALS);
