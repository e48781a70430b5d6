"""Transcripts of conversations as other tools write them, read into turns.

    for said in read_transcript(Path("chat.jsonl")):
        client.append_events(said.session, [said.turn])

Formats: JSON Lines (a message or a whole conversation a line), the messages of OpenAI's and Anthropic's chat APIs, and
ShareGPT. Everything wrong is a ValueError that names the file and the place.
"""

from rearview.client.transcripts.files import FORMATS, read_transcript
from rearview.client.transcripts.said import Said

__all__ = ["FORMATS", "Said", "read_transcript"]
