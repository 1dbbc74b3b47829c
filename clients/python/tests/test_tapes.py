"""Plays the tapes of clients/tapes, and those of the folder `$BAHAY_TAPES`."""

import os
import unittest
from pathlib import Path

from tape import Deviation, play_tape

FOLDERS = [Path(__file__).parents[2] / "tapes", *map(Path, filter(None, [os.environ.get("BAHAY_TAPES")]))]


class Tapes(unittest.TestCase):
    def test_the_client_follows_every_tape(self):
        deviations = []
        connections = shows = played = 0
        # The first of the written tapes are the checked-in ones.
        tapes = {tape.name: tape for folder in FOLDERS for tape in sorted(folder.glob("*.jsonl"))}
        self.assertTrue(tapes, f"{FOLDERS} have no tapes")
        for tape in tapes.values():
            try:
                summary = play_tape(tape.read_text("utf-8"))
            except Deviation as deviation:
                deviations.append(f"{tape}: {deviation}"[:2_000])
            else:
                played += 1
                connections += summary.connections
                shows += summary.shows
        self.assertEqual(deviations, [], f"{len(deviations)} tapes deviate")
        self.assertGreater(connections, played, "the tapes have interruptions")
        self.assertGreater(shows, 0)

    def test_a_changed_tape_is_noticed(self):
        text = (FOLDERS[0] / "tongits-0001.jsonl").read_text("utf-8")
        changed = text.replace('"digest":"', '"digest":"0', 1)
        with self.assertRaises(Deviation):
            play_tape(changed)


if __name__ == "__main__":
    unittest.main()
