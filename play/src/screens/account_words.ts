// The texts of the account, English and Filipino side by side.
import { createSayer } from '../words.ts';

const WORDS = {
  protected: ['protected by a password', 'may password'],
  guest: ['guest on this device', 'bisita sa device na ito'],
  sign_out: ['Sign out', 'Mag-sign out'],
  signed_in: ['You play as {name} now.', 'Ikaw na si {name}.'],
  guest_left: ['You leave {name} behind, with {coins} coins. Set a password for it below first if you want them elsewhere; without one, only this device leads back to it, after you sign out.',
    'Maiiwan si {name} at ang {coins} barya. Lagyan muna ng password sa ibaba kung gusto mong magamit sa iba; kung wala, sa device na ito lang makakabalik, pagka-sign out mo.'],
  password_short: ['at least {n} characters', '{n} titik o higit pa'],
  password_now: ['Your password', 'Password mo'],
  password_new: ['New password', 'Bagong password'],
  change: ['Change the password', 'Palitan ang password'],
  change_note: ['You are signed out everywhere else.', 'Masa-sign out ka sa lahat ng iba.'],
  more: ['Your data', 'Ang data mo'],
  export: ['Save all that is kept about you', 'I-save ang lahat ng tungkol sa iyo'],
  end: ['End this account', 'Tapusin ang account na ito'],
  end_note: ['Name, coins and ways to sign in are gone for good. What was played stays, under no name.',
    'Mawawala nang tuluyan ang pangalan, barya at pag-sign in. Mananatili ang mga laro, walang pangalan.'],
  end_sure: ['Really end it, for good', 'Oo, tapusin nang tuluyan'],
} as const satisfies Record<string, readonly [string, string]>;

export const say = createSayer(WORDS);
