/** The part of PostgreSQL's protocol that is needed to see which statement is being sent and how it ended. */

export interface Message {
  /** The dead letter that it begins with; empty for those before the session has begun. */
  readonly type: string;
  readonly bytes: Buffer;
}

/** Cuts a stream of bytes into messages. What is not whole yet is kept. */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0);
  /** The first message of a client has no dead letter. */
  #opening: boolean;

  constructor(side: 'client' | 'server') {
    this.#opening = side === 'client';
  }

  read(chunk: Buffer): Message[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const deadLetter = this.#opening ? 0 : 1;
      if (this.#rest.length < deadLetter + 4) return messages;
      const length = deadLetter + this.#rest.readInt32BE(deadLetter);
      if (this.#rest.length < length) return messages;
      const bytes = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      messages.push({ type: this.#opening ? '' : String.fromCharCode(bytes[0] ?? 0), bytes });
      this.#opening = false;
    }
  }
}

export const FLUSH: Buffer = Buffer.from([0x48, 0, 0, 0, 4]);

/** A message's strings from an offset on, each ended by a zero byte. */
function stringsOf({ bytes }: Message, count: number): string[] {
  const strings: string[] = [];
  let from = 5;
  for (let i = 0; i < count; i++) {
    const to = bytes.indexOf(0, from);
    strings.push(bytes.toString('utf8', from, to));
    from = to + 1;
  }
  return strings;
}

/** One statement of a batch: the messages that parse, bind and execute it. */
export interface Unit {
  readonly sql: string;
  readonly messages: readonly Message[];
}

/** Groups what a client sends: into batches that end with a Sync, and those into statements. Knows what was parsed before. */
export class BatchReader {
  readonly #parsed = new Map<string, string>();
  #units: Unit[] = [];
  #messages: Message[] = [];
  #sql = '';

  /** Answers with a whole batch when this message ends it. What follows the last statement is a unit without SQL. */
  add(message: Message): readonly Unit[] | null {
    this.#messages.push(message);
    if (message.type === 'P') {
      const [name = '', sql = ''] = stringsOf(message, 2);
      this.#parsed.set(name, sql);
    }
    if (message.type === 'B') this.#sql = this.#parsed.get(stringsOf(message, 2)[1] ?? '') ?? '';
    if (message.type === 'E') this.#endUnit(this.#sql);
    if (message.type === 'P' || message.type === 'B' || message.type === 'E' || message.type === 'D') return null;
    this.#endUnit('');
    const units = this.#units;
    this.#units = [];
    return units;
  }

  #endUnit(sql: string): void {
    this.#units.push({ sql, messages: this.#messages });
    this.#messages = [];
  }
}
