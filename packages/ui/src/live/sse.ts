/** Reads server-sent events from text that arrives in pieces. */
export interface SseFrame {
  readonly id: string | null;
  readonly event: string;
  readonly data: string | null;
}

export class SseParser {
  #rest = '';

  /** The frames that are complete with this piece. */
  push(piece: string): SseFrame[] {
    const parts = (this.#rest + piece).replaceAll('\r\n', '\n').split('\n\n');
    this.#rest = parts.pop() ?? '';
    return parts.map(readFrame);
  }
}

function readFrame(text: string): SseFrame {
  let id: string | null = null;
  let event = 'message';
  const data: string[] = [];
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'id') id = value;
    else if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  }
  return { id, event, data: data.length === 0 ? null : data.join('\n') };
}
