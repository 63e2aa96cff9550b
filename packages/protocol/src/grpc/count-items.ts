/**
 * Counts the items of a worker's message in its bytes, without making anything of them: an item of a list can be as short as
 * two bytes, and a message of a few megabytes would take seconds to decode. Stops as soon as there are too many.
 */

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;
/** Parts that hold lists themselves: hello, heartbeat, holdings. See `worker.proto`. */
const HOLDS_LISTS: ReadonlySet<number> = new Set([2, 3, 6]);

const MALFORMED = Number.NEGATIVE_INFINITY;

export function countItems(message: Buffer, most: number): 'fits' | 'too many' | 'malformed' {
  const left = countIn(message, 0, message.length, { left: most, depth: 0 });
  if (left === MALFORMED) return 'malformed';
  return left < 0 ? 'too many' : 'fits';
}

interface Counting {
  readonly left: number;
  readonly depth: number;
}

/** How many more there may be; below 0 when there are too many, MALFORMED for bytes that are no message. */
function countIn(bytes: Buffer, from: number, to: number, { left: most, depth }: Counting): number {
  let left = most;
  let at = from;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; at < to; scale *= 128) {
      const byte = bytes[at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 128) return value;
    }
    return Number.POSITIVE_INFINITY;
  };
  while (at < to && left >= 0) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    switch (tag % 8) {
      case VARINT:
        varint();
        break;
      case FIXED_64:
        at += 8;
        break;
      case FIXED_32:
        at += 4;
        break;
      case BYTES: {
        const length = varint();
        const end = at + length;
        if (!(end <= to)) return MALFORMED;
        left -= 1;
        if (depth === 0 && HOLDS_LISTS.has(field)) left = countIn(bytes, at, end, { left, depth: 1 });
        at = end;
        break;
      }
      default:
        return MALFORMED;
    }
  }
  return left;
}
