/**
 * One connection between a node and the database, with an end on each side. Statements arrive one after the other, in the
 * order in which they were sent, and answers come back in order. Each end can be gone without the other knowing.
 *
 * The server's end holds locks until its transaction ends: by commit, by rollback, or with the connection.
 */
import type { NodeId, ShardNo } from '@signalbox/engine';

/** The row of a shard by its number, the row of a node's writer by the node. */
export type LockKey = ShardNo | NodeId;

export interface Wire {
  /** Runs after the time that a message takes. */
  hop(what: string, run: () => void): void;
  after(ms: number, what: string, run: () => void): void;
  /** Frees what the connection holds in the database. */
  rolledBack(connection: Connection): void;
}

export class Connection {
  readonly name: string;
  /** The backend lives: what arrives is done. */
  serverAlive = true;
  /** The caller still listens. */
  clientAlive = true;
  /** Rows whose lock it has. */
  readonly locked = new Set<LockKey>();
  readonly #wire: Wire;
  readonly #lost: (why: string) => void;
  readonly #statements: ((done: () => void) => void)[] = [];
  readonly #answers: ((sent: () => void) => void)[] = [];
  #isSilent = false;
  #receiving = false;
  #answering = false;

  /** `lost` is called once, on the caller's side, when it learns that the connection is gone. */
  constructor(name: string, wire: Wire, lost: (why: string) => void) {
    this.name = name;
    this.#wire = wire;
    this.#lost = lost;
  }

  /** The statement runs in the database after all that were sent before it, and calls `done` when the next may run. */
  send(statement: (done: () => void) => void): void {
    if (this.#isSilent) return;
    this.#statements.push(statement);
    if (!this.#receiving) this.#receive();
  }

  #receive(): void {
    const statement = this.#statements.shift();
    this.#receiving = statement !== undefined;
    if (statement === undefined) return;
    this.#wire.hop(`${this.name}: statement`, () => {
      // Late bytes of a connection that the database has ended change nothing.
      if (this.serverAlive) statement(() => this.#receive());
    });
  }

  /** Called in the database: the answer goes out after all earlier ones. `leave` is where it can still be stopped. */
  answer(leave: (go: () => void) => void, heard: () => void): void {
    this.#answers.push((sent) =>
      leave(() =>
        this.#wire.hop(`${this.name}: answer`, () => {
          if (this.clientAlive) heard();
          sent();
        }),
      ),
    );
    if (!this.#answering) this.#sendAnswers();
  }

  #sendAnswers(): void {
    const next = this.#answers.shift();
    this.#answering = next !== undefined;
    next?.(() => this.#sendAnswers());
  }

  /** The database ends it: rolled back at once. The caller hears of it a little later, or when it gives up waiting. */
  endServer(why: string, hearsAfterMs: number | null = null): void {
    if (!this.serverAlive) return;
    this.serverAlive = false;
    this.#wire.rolledBack(this);
    const hear = () => this.endClient(why);
    if (hearsAfterMs === null) this.#wire.hop(`${this.name}: ${why}`, hear);
    else this.#wire.after(hearsAfterMs, `${this.name}: ${why}`, hear);
  }

  /** The caller's end is gone. The database does not know, and goes on with what has arrived. */
  endClient(why: string): void {
    if (!this.clientAlive) return;
    this.clientAlive = false;
    this.#lost(why);
  }

  /** Nothing arrives in the database any more, not even that the caller is gone. */
  fallSilent(): void {
    this.#isSilent = true;
    this.#statements.length = 0;
  }

  /** What is on its way still arrives; then the database sees that nobody is there. */
  hangUp(): void {
    this.send(() => this.endServer('the client has gone'));
  }
}
