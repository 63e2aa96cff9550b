/** What changed between two texts, line by line. */
interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
  /** Number in the newer text, or in the older one for what was removed. */
  readonly no: number;
}

/** Texts that differ in more lines than this are shown as a whole: removed, then added. */
const MOST_LINES = 2_000;

/** By the longest common subsequence, after what both have in common at the start and the end. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const same = (from: number, to: number): DiffLine[] =>
    now.slice(from, to).map((text, at) => ({ kind: 'same', text, no: from + at + 1 }));
  const middle = diffMiddle(old.slice(start, old.length - end), now.slice(start, now.length - end), start);
  return [...same(0, start), ...middle, ...same(now.length - end, now.length)];
}

function diffMiddle(old: readonly string[], now: readonly string[], offset: number): DiffLine[] {
  const removed = (at: number): DiffLine => ({ kind: 'removed', text: old[at] ?? '', no: offset + at + 1 });
  const added = (at: number): DiffLine => ({ kind: 'added', text: now[at] ?? '', no: offset + at + 1 });
  if (old.length > MOST_LINES || now.length > MOST_LINES) {
    return [...old.map((_, at) => removed(at)), ...now.map((_, at) => added(at))];
  }
  const width = now.length + 1;
  const longest = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      const [down, right] = [longest[(i + 1) * width + j] ?? 0, longest[i * width + j + 1] ?? 0];
      longest[i * width + j] = old[i] === now[j] ? (longest[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(down, right);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const isRemoved = (longest[(i + 1) * width + j] ?? 0) >= (longest[i * width + j + 1] ?? 0);
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ kind: 'same', text: now[j] ?? '', no: offset + j + 1 });
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && isRemoved)) lines.push(removed(i++));
    else lines.push(added(j++));
  }
  return lines;
}

/** The lines that changed, with a few around them; null stands for lines that are left out. */
export function hunksOf(lines: readonly DiffLine[], around = 3): (DiffLine | null)[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - around), at + around + 1).some(({ kind }) => kind !== 'same'),
  );
  const shown: (DiffLine | null)[] = [];
  lines.forEach((line, at) => {
    if (isNear[at]) shown.push(line);
    else if (shown.at(-1) !== null) shown.push(null);
  });
  return shown.every((line) => line === null) ? [] : shown;
}
