/** Arguments in, text out. Each command loads what it needs when it runs; `--version` loads nothing else. */
import { EXIT } from './exit-codes.ts';

export async function run(argv: readonly string[]): Promise<void> {
  const words = argv.slice(2);
  if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
    const { version } = await import('./version.ts');
    process.stdout.write(`${version()}\n`);
    return;
  }
  leaveWhenNobodyReads();
  if (words[0] === '__complete') return (await import('./completion/answer.ts')).answer(words.slice(1));
  const [{ buildProgram }, { CommanderError }] = await Promise.all([import('./program.ts'), import('commander')]);
  const asJson = words.includes('--json');
  const told: string[] = [];
  try {
    if (words.length === 0) return buildProgram().outputHelp();
    await buildProgram(asJson ? (text) => told.push(text) : undefined).parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) await fail(error, asJson);
    else if (error.exitCode === 0) process.exitCode = EXIT.ok;
    else await failUsage(told.join('').trim());
  }
  await leave();
}

/** What has been said is said; a connection that is kept open for the next request must not keep the prompt waiting. */
async function leave(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writable) await new Promise<void>((resolve) => stream.write('', () => resolve()));
  }
  process.exit();
}

/** The parser has printed it already, unless a program reads: then its last line, which names the help, is what to do. */
async function failUsage(text: string): Promise<void> {
  process.exitCode = EXIT.usage;
  if (text === '') return;
  const { printError } = await import('./output.ts');
  const lines = text.replace(/^error: /, '').split('\n');
  const remedy = lines.at(-1)?.startsWith('Help: ') === true ? (lines.pop() ?? null) : null;
  printError({ code: null, message: lines.join('\n'), remedy }, true);
}

async function fail(error: unknown, asJson: boolean): Promise<void> {
  const [{ explain }, { printError }] = await Promise.all([import('./problem.ts'), import('./output.ts')]);
  const { exitCode, ...told } = explain(error);
  const { suggestionFor } = await import('./suggestions.ts');
  const suggestion = await suggestionFor(told.code);
  const message = suggestion === null ? told.message : `${told.message} ${suggestion}`;
  printError({ ...told, message }, asJson);
  process.exitCode = exitCode;
}

/** `signalbox runs list | head` is no error; and a terminal that has gone must not end a server in the middle of its stop. */
function leaveWhenNobodyReads(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' && process.listenerCount('SIGHUP') === 0) process.exit(process.exitCode ?? EXIT.ok);
    });
  }
}
