/** Merges the parts of one log from several nodes: each line number once, in order. */
import type { NumberedLine } from './frame.ts';
import type { LogPage } from './log-store.ts';

/**
 * Lines up to where it is sure that no part has one that lacks here. A part with more behind its last line may have any number
 * after it, so nothing beyond is taken.
 */
export function mergePages(pages: readonly LogPage[], { from, limit }: { from: number; limit: number }): LogPage {
  const [only] = pages;
  if (pages.length === 1 && only !== undefined) return only;
  let horizon = Number.POSITIVE_INFINITY;
  for (const { lines, hasMore } of pages) {
    if (hasMore) horizon = Math.min(horizon, (lines.at(-1)?.no ?? from - 1) + 1);
  }
  const sorted = pages.flatMap(({ lines }) => lines).sort((a, b) => a.no - b.no);
  const lines: NumberedLine[] = [];
  let next = from;
  for (const line of sorted) {
    if (line.no < next) continue;
    if (line.no >= horizon || lines.length >= limit) return { lines, hasMore: true };
    lines.push(line);
    next = line.no + 1;
  }
  return { lines, hasMore: horizon !== Number.POSITIVE_INFINITY };
}

/** A line that has waited so long for the one before it goes without. */
const GAP_MS = 10_000;

/**
 * Up to the first number that lacks: it may be on its way over another connection. What is over, or old, is given as it is: then
 * the number is lost, and the numbers of the others say so.
 */
export function cutAtGap(
  page: LogPage,
  { from, isSettled, now }: { from: number; isSettled: boolean; now: number },
): LogPage {
  if (isSettled) return page;
  let next = from;
  for (const [i, { no, at }] of page.lines.entries()) {
    if (no > next && now - at < GAP_MS) return { lines: page.lines.slice(0, i), hasMore: false };
    next = no + 1;
  }
  return page;
}
