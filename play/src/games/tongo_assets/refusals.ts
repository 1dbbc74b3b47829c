// Adds the texts of this game's refusals.
import texts from '../../../../clients/refusals/tongo_assets.json';
import { addRefusals } from '../../refusals.ts';

addRefusals('tongo_assets', texts);
