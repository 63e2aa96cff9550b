/**
 * Which claims are told with what the matcher knew: so many per second, those that chose among workers apart from those that took the
 * next in turn. So a flood of short tasks costs two comparisons each, and leaves room for the decisions that people ask about.
 */
import { type Candidate, MOST_CANDIDATES } from '../../model/decision.ts';
import type { Offer } from '../worker/worker-table.ts';

/** After a quiet time so many are told at once. */
const BURST = 1_000;

class Budget {
  private left: number;
  private readonly most: number;
  private readonly perMs: number;
  private at = Number.NaN;

  constructor(perSecond: number) {
    this.perMs = perSecond / 1_000;
    this.most = perSecond === 0 ? 0 : Math.max(BURST, perSecond);
    this.left = this.most;
  }

  has(mono: number): boolean {
    if (mono > this.at) this.left = Math.min(this.most, this.left + (mono - this.at) * this.perMs);
    this.at = mono;
    return this.left >= 1;
  }

  take(mono: number): boolean {
    if (!this.has(mono)) return false;
    this.left -= 1;
    return true;
  }
}

/** The workers that a task could go to, the best first. */
export class Considered {
  /** How many had room. */
  fitting = 0;
  private readonly best: { readonly offer: Offer; readonly score: number }[] = [];

  clear(): this {
    this.fitting = 0;
    this.best.length = 0;
    return this;
  }

  add(offer: Offer, score: number): void {
    const { best } = this;
    this.fitting += 1;
    if (best.length === MOST_CANDIDATES && best.at(-1)!.score <= score) return;
    // Behind its equals: of two with the same score the matcher takes the first.
    const place = best.findIndex((one) => one.score > score);
    best.splice(place < 0 ? best.length : place, 0, { offer, score });
    if (best.length > MOST_CANDIDATES) best.pop();
  }

  /** As they are now: before the claim takes its part. */
  candidates(): Candidate[] {
    return this.best.map(({ offer, score }) => candidateOf(offer, score));
  }
}

export function candidateOf({ worker, free, room }: Offer, score: number | null): Candidate {
  return { workerId: worker.id, score, slots: free, room: { ...room } };
}

export class Decisions {
  private readonly inTurn: Budget;
  private readonly chosen: Budget;
  private readonly considered = new Considered();

  constructor(perSecond: number) {
    this.inTurn = new Budget(perSecond);
    this.chosen = new Budget(perSecond);
  }

  /** What the placement that follows is to fill; null when it is not told. */
  considering(mono: number): Considered | null {
    return this.chosen.has(mono) ? this.considered.clear() : null;
  }

  /** A task goes to the next worker in turn. */
  takeTurn(mono: number): boolean {
    return this.inTurn.take(mono);
  }

  /** A worker was chosen for a task; null when it is not told. */
  takeChosen(mono: number): Considered | null {
    return this.chosen.take(mono) ? this.considered : null;
  }
}
