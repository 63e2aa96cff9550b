import type { Change } from '../../model/change.ts';

/** What a constraint of the database, or a missing row, would stop. */
export class Violation extends Error {
  readonly change: Change;
  constructor(message: string, change: Change) {
    super(message);
    this.name = 'Violation';
    this.change = change;
  }
}

export function require(holds: boolean, what: string, change: Change): void {
  if (!holds) throw new Violation(what, change);
}
