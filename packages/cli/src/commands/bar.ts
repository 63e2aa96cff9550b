const WIDTH = 24;

/** A bar of fixed width: `[██████░░░░░░] 50 %`. */
export function bar(fraction: number): string {
  const share = Math.min(1, Math.max(0, fraction));
  const full = Math.floor(share * WIDTH);
  return `[${'█'.repeat(full)}${'░'.repeat(WIDTH - full)}] ${Math.floor(share * 100)} %`;
}
