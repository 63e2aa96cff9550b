/** An error: what happened, and what the reader can do about it. */
export class PostgresError extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(`${message} ${remedy}`);
    this.name = 'PostgresError';
    this.remedy = remedy;
  }
}
