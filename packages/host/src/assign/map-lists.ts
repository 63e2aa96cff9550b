/** The lists that maps iterate over. Each list is parsed once, not once per item. */
import type { RunId } from '@signalbox/engine';

/** By the length of their texts; what is parsed takes a few times as much. */
const KEPT_CHARS = 32 * 1024 * 1024;
const KEPT_COUNT = 256;

interface KeptList {
  /** The payload that it was parsed of: another one under the same number is another list. */
  readonly text: string;
  readonly chars: number;
  readonly value: unknown;
}

export class MapLists {
  /** How often something was parsed: for measuring. */
  parsedCount = 0;
  /** The one that was used longest ago first. */
  private readonly kept = new Map<string, KeptList>();
  private chars = 0;

  /** `text` is what is stored under the number: the output itself, or where it is. `no` is null for the params of the run. */
  has(runId: RunId, no: number | null, text: string): boolean {
    return this.kept.get(nameOf(runId, no))?.text === text;
  }

  /** `whole` gives the JSON, where it is not known any more. */
  get(runId: RunId, no: number | null, text: string, whole: () => string): unknown {
    const name = nameOf(runId, no);
    const known = this.kept.get(name);
    if (known !== undefined) {
      this.kept.delete(name);
      if (known.text === text) {
        this.kept.set(name, known);
        return known.value;
      }
      this.chars -= known.chars;
    }
    const json = whole();
    this.parsedCount += 1;
    const list = { text, chars: json.length, value: JSON.parse(json) as unknown };
    this.kept.set(name, list);
    this.chars += list.chars;
    for (const [oldest, old] of this.kept) {
      if ((this.chars <= KEPT_CHARS && this.kept.size <= KEPT_COUNT) || oldest === name) break;
      this.kept.delete(oldest);
      this.chars -= old.chars;
    }
    return list.value;
  }
}

const nameOf = (runId: RunId, no: number | null): string => `${runId}/${no ?? 'params'}`;
