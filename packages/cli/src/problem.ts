/** What went wrong, and what to do about it, for the person at the terminal. */
export class CliError extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.name = 'CliError';
    this.remedy = remedy;
  }
}

interface Explained {
  readonly message: string;
  readonly remedy: string | null;
  readonly code: string | null;
}

/** Errors of all packages say what to do in one way or another; they are told by their shape, so that none need be loaded. */
export function explain(error: unknown): Explained {
  if (!(error instanceof Error)) return { message: String(error), remedy: null, code: null };
  const { body, remedy, code } = error as { body?: unknown; remedy?: unknown; code?: unknown };
  if (error.name === 'SignalboxError' || typeof body === 'function') {
    const problem = (body as () => { remedy: string; code: string }).call(error);
    return { message: error.message, remedy: remedyFor(problem), code: problem.code };
  }
  return {
    message: typeof remedy === 'string' ? error.message.replace(remedy, '').trim() : error.message,
    remedy: typeof remedy === 'string' ? remedy : null,
    code: typeof code === 'string' ? code : null,
  };
}

/** The table of errors speaks to programs; here a person can do something else. */
function remedyFor({ code, remedy }: { code: string; remedy: string }): string {
  if (code === 'UNAUTHENTICATED') {
    return 'Give the token of this server: set SIGNALBOX_TOKEN, or SIGNALBOX_DATA to the data folder that holds admin.token.';
  }
  if (code === 'UNAVAILABLE' || code === 'UNKNOWN_OUTCOME') {
    return `${remedy} Is the server running? Start one with: npx signalbox start`;
  }
  return remedy;
}
