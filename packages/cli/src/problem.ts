/** An error: what happened, what to do, and the exit code. */
import type { Problem } from '@signalbox/protocol/errors';
import { messageAtPrompt, problemsAtPrompt, remedyAtPrompt } from './cli-words.ts';
import { currentCommand } from './current-command.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { ToldError } from './output.ts';

export class CliError extends Error {
  readonly remedy: string;
  readonly exitCode: ExitCode;

  constructor(message: string, remedy: string, exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.name = 'CliError';
    this.remedy = remedy;
    this.exitCode = exitCode;
  }
}

export interface Explained extends ToldError {
  readonly exitCode: ExitCode;
}

interface Refusal {
  readonly code: string;
  readonly remedy: string;
  readonly status: number;
}

/** Errors of all packages say what to do in one way or another; they are told by their shape, so that none need be loaded. */
export function explain(error: unknown): Explained {
  if (!(error instanceof Error)) return { message: String(error), remedy: null, code: null, exitCode: EXIT.failed };
  const { body, remedy, code, exitCode } = error as {
    body?: unknown;
    remedy?: unknown;
    code?: unknown;
    exitCode?: ExitCode;
  };
  if (typeof body === 'function') return explainRefusal(error, (body as () => Refusal).call(error));
  if (error.name === 'WaitTimedOut')
    return { message: error.message, remedy: null, code: null, exitCode: EXIT.timedOut };
  return {
    message: typeof remedy === 'string' ? error.message.replace(remedy, '').trim() : error.message,
    remedy: typeof remedy === 'string' ? remedy : null,
    code: typeof code === 'string' ? code : null,
    exitCode: exitCode ?? (error.name === 'ConfigError' ? EXIT.usage : EXIT.failed),
  };
}

/** The table of errors speaks to programs; here a person can do something else. */
function explainRefusal(error: Error, { code, remedy, status }: Refusal): Explained {
  if (hasNoAnswer(error)) {
    return {
      code,
      message: `No server answers at ${addressOf(error)}.`,
      remedy: 'Start one with: npx signalbox start. If a server runs elsewhere, pass --url or set SIGNALBOX_URL.',
      exitCode: EXIT.unreachable,
    };
  }
  if (causes(error).some((cause) => typeof cause.code === 'string' && isCertificateError(cause.code))) {
    const what = 'Set NODE_EXTRA_CA_CERTS to the CA certificate (PEM) of the server.';
    return { code, message: "The server's certificate is not trusted.", remedy: what, exitCode: EXIT.unreachable };
  }
  if (code === 'UNAVAILABLE' && error.cause instanceof Error) {
    const what =
      'Check the URL: https:// for a server with TLS, http:// for one without, and the API port (default 4500). If it is right, the server may be starting; try again.';
    return {
      code,
      message: 'The address answers, but not like a Signalbox server.',
      remedy: what,
      exitCode: EXIT.unreachable,
    };
  }
  if (code === 'UNAUTHENTICATED') {
    const what =
      'Set SIGNALBOX_TOKEN to a token of this server, or SIGNALBOX_DATA to the data folder that contains admin.token.';
    return { code, message: error.message, remedy: what, exitCode: EXIT.refused };
  }
  const { message } = atPrompt(error);
  const isServing = status < 500;
  const mayServe = code === 'UNAVAILABLE' || code === 'OVERLOADED' || code === 'UNKNOWN_OUTCOME';
  const exitCode = isServing ? EXIT.refused : mayServe ? EXIT.unreachable : EXIT.failed;
  return { code, message, remedy: remedyAtPrompt(code, remedy), exitCode };
}

/** The sentence of the server, and below it each problem with the flag or argument that it is about. */
function atPrompt(error: Error): { message: string } {
  const { details } = error as { details?: { problems?: readonly Problem[] } };
  const problems = details?.problems ?? [];
  if (problems.length === 0) return { message: messageAtPrompt(error.message) };
  // The client has put the first problems behind the sentence, by their names in the API.
  const first = problems[0];
  const at = first === undefined ? -1 : error.message.indexOf(`${first.path} ${first.message}`);
  const sentence = at === -1 ? error.message : error.message.slice(0, at).trim();
  const lines = problemsAtPrompt(problems, currentCommand()?.definition ?? null);
  return { message: [messageAtPrompt(sentence), ...lines.map((line) => `  ${line}`)].join('\n') };
}

/** By their codes in Node.js: the other side may be who it says, but nobody that is trusted here has signed for it. */
export const isCertificateError = (code: string): boolean => /CERT|SIGNATURE|SELF_SIGNED/.test(code);

/** The connection itself failed: nobody listens there. */
function hasNoAnswer(error: Error): boolean {
  return causes(error).some(({ code }) => typeof code === 'string' && NOBODY.has(code));
}

const NOBODY = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

interface SystemCause {
  readonly code?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
  readonly hostname?: unknown;
}

function causes(error: unknown): SystemCause[] {
  const found: SystemCause[] = [];
  for (let next = error, depth = 0; next instanceof Error && depth < 5; next = next.cause, depth++) {
    found.push(next as SystemCause);
    if (next instanceof AggregateError) found.push(...(next.errors as SystemCause[]));
  }
  return found;
}

function addressOf(error: Error): string {
  for (const { address, port, hostname } of causes(error)) {
    if (typeof address === 'string' && typeof port === 'number') return `${address}:${port}`;
    if (typeof hostname === 'string') return hostname;
  }
  return 'that address';
}
