/** The places in outputs and params that the engine looks at: conditions ask for values, maps for lengths. */
import { MAX_FACTS } from '../limits.ts';
import type { Path } from './references.ts';

/** Each path is extracted once, however many conditions use it. */
class Paths {
  readonly list: Path[] = [];
  readonly #numbers = new Map<string, number>();

  /** Its number; null when there are too many. */
  numberOf(path: Path): number | null {
    const key = JSON.stringify(path);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.list.length >= MAX_FACTS) return null;
    this.#numbers.set(key, this.list.length);
    return this.list.push(path) - 1;
  }
}

export class Facts {
  readonly #ofTasks = new Map<number, Paths>();
  readonly #ofParams = new Paths();
  readonly #errors = new Set<number>();

  ofTask(task: number, path: Path): number | null {
    const paths = this.#ofTasks.get(task) ?? new Paths();
    this.#ofTasks.set(task, paths);
    return paths.numberOf(path);
  }

  /** Somebody looks at why the task failed. */
  lookAtError(task: number): void {
    this.#errors.add(task);
  }

  tellsError(task: number): boolean {
    return this.#errors.has(task);
  }

  ofParams(path: Path): number | null {
    return this.#ofParams.numberOf(path);
  }

  /** Paths into the output of a task; undefined where nobody looks. */
  pathsOf(task: number): readonly Path[] | undefined {
    return this.#ofTasks.get(task)?.list;
  }

  get paramPaths(): readonly Path[] {
    return this.#ofParams.list;
  }
}

export const tooManyFacts = (what: string): string =>
  `conditions and maps look at more than ${MAX_FACTS} places in ${what}`;
