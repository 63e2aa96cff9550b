/** A Markdown table with columns of equal width, as the formatter wants it. */
export function pageTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, i) => Math.max(3, ...[head, ...rows].map((cells) => cells[i]!.length)));
  const rule = widths.map((width) => '-'.repeat(width));
  const lines = [head, rule, ...rows].map((cells) => cells.map((cell, i) => cell.padEnd(widths[i]!)));
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
