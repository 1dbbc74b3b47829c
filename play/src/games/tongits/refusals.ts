// Adds the texts of this game's refusals.
import texts from '../../../../clients/refusals/tongits.json';
import { addRefusals } from '../../refusals.ts';

addRefusals('tongits', texts);
