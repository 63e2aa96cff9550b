/** The 16 bytes of a UUID from its 36 characters. */

const NO_DIGIT = 0xff;
const DASHES: ReadonlySet<number> = new Set([8, 13, 18, 23]);
/** Where the first of the two digits of each byte stands. */
const PLACES = Array.from({ length: 36 }, (_, place) => place)
  .filter((place) => !DASHES.has(place))
  .filter((_, no) => no % 2 === 0);
const DIGITS = new Uint8Array(256).fill(NO_DIGIT);
for (let digit = 0; digit < 16; digit++) {
  DIGITS[digit.toString(16).charCodeAt(0)] = digit;
  DIGITS[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}

export function writeUuid(bytes: Uint8Array, at: number, text: string): void {
  if (text.length !== 36) throw new Error(`"${text}" is not a UUID.`);
  let seen = 0;
  for (let no = 0; no < 16; no++) {
    const place = PLACES[no] as number;
    const high = digitAt(text, place);
    const low = digitAt(text, place + 1);
    seen |= high | low;
    bytes[at + no] = (high << 4) | low;
  }
  if (seen > 15) throw new Error(`"${text}" is not a UUID.`);
}

const digitAt = (text: string, place: number): number => DIGITS[text.charCodeAt(place)] ?? NO_DIGIT;
