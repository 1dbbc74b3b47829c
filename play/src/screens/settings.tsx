// The player's settings for this device; on the first page also the account.
import { GAMES } from '../games/list.ts';
import { me } from '../house.ts';
import { shownProfile } from '../overlays.ts';
import { Choice, Sheet, Toggle } from '../parts/index.tsx';
import { choose, hintsFor, settings, showHints } from '../settings.ts';
import { sound } from '../sound.ts';
import { language, say, type Language } from '../words.ts';
import { Account } from './account.tsx';

/** The settings; `kind` is the table's game, whose hints are switched; without a table those of all games. */
export function SettingsSheet({ onClose, whole = false, kind = null }: { onClose: () => void; whole?: boolean; kind?: string | null }) {
  const kinds = kind === null ? GAMES.map((game) => game.kind) : [kind];
  return (
    <Sheet title={say('settings')} onClose={onClose}>
      <div class="list">
        <Choice<Language> label={say('set_language')} chosen={language.value} onChoose={choose} of={[['en', 'English'], ['fil', 'Filipino']]} />
        <Toggle label={say('set_sound')} on={settings.sound.value} onChange={(on) => { settings.sound.value = on; if (on) sound.chip(); }} />
        <Toggle label={say('set_four_colours')} on={settings.fourColours.value} onChange={(on) => { settings.fourColours.value = on; }} />
        <Toggle label={say('set_large_cards')} on={settings.largeCards.value} onChange={(on) => { settings.largeCards.value = on; }} />
        <Toggle label={say('set_still')} on={settings.still.value} onChange={(on) => { settings.still.value = on; }} />
        <Toggle label={say('set_hints')} on={kinds.some(hintsFor)} onChange={(on) => { for (const one of kinds) showHints(one, on); }} />
        {me.value ? <button type="button" class="plain" onClick={() => { shownProfile.value = { id: me.value!.id, game: null }; }}>{say('profile_own')}</button> : null}
        {whole ? <Account /> : null}
      </div>
    </Sheet>
  );
}
