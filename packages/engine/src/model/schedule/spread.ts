/** A number that follows from a text and looks like chance: where `H` falls, how late a window fires. */

/** FNV-1a over both bytes of each character, then mixed once more: its low bits alone are too alike for similar ids. */
export function hashOf(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    value = Math.imul(value ^ (code & 0xff), 0x01000193);
    value = Math.imul(value ^ (code >>> 8), 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
