/** Randomness comes into a step as one number. Every use is derived from it, so a replay draws the same. */
export function chanceOf(seed: number, ...parts: readonly number[]): number {
  let h = seed >>> 0 || 0x9e3779b9;
  for (const part of parts) {
    h = mix(h ^ (part >>> 0));
    h = mix(h ^ (Math.floor(part / 4_294_967_296) >>> 0));
  }
  return h / 4_294_967_296;
}

/** A whole number of `bits` (at most 48) from the same source. */
export function bitsOf(bits: number, seed: number, ...parts: readonly number[]): number {
  const high = Math.floor(chanceOf(seed, 1, ...parts) * 2 ** 24);
  const low = Math.floor(chanceOf(seed, 2, ...parts) * 2 ** 24);
  return (high * 2 ** 24 + low) % 2 ** bits;
}

function mix(value: number): number {
  let h = value >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
  return (h ^ (h >>> 15)) >>> 0;
}
