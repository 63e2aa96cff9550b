/** Arguments in, text out: which command there is, and what it takes. What a command needs is loaded when it runs. */
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { explain } from './problem.ts';

export async function run(argv: readonly string[]): Promise<void> {
  const program = buildProgram();
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    fail(error, argv.includes('--json'));
  }
}

function fail(error: unknown, asJson: boolean): void {
  const { message, remedy, code } = explain(error);
  const text = asJson
    ? JSON.stringify({ error: { code, message, remedy } })
    : `error: ${message}${remedy === null ? '' : `\n  ${remedy}`}`;
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}

function buildProgram(): Command {
  const program = new Command('signalbox')
    .description('A job scheduler and DAG orchestrator on PostgreSQL.')
    .exitOverride()
    .showHelpAfterError('(add --help for what this command takes)');

  serverFlags(program.command('start'))
    .description('a server, its database and a worker with the examples: everything to try it out')
    .option('--slots <count>', 'tasks that the worker runs at a time', wholeNumber, 10)
    .action(async (flags) => (await import('./start.ts')).start(flags));

  serverFlags(program.command('server'))
    .description('a server; without DATABASE_URL it brings its own PostgreSQL')
    .action(async (flags) => (await import('./server.ts')).server(flags));

  program
    .command('worker')
    .description('a worker that runs handlers of a module')
    .requiredOption('--handlers <file>', 'a module that exports functions by the names of handlers')
    .option('--slots <count>', 'tasks that it runs at a time', wholeNumber, 10)
    .option('--queues <names>', 'queues that it listens to, with commas between', 'default')
    .option('--gateway <addresses>', 'host:port of one or more servers (SIGNALBOX_GATEWAY, 127.0.0.1:4501)')
    .option('--name <name>', 'what people see it under')
    .option('--ca <file>', 'certificate of the authority behind https:// gateways')
    .option('--data <folder>', 'data folder of the server, for its token')
    .option('--json', 'log lines of JSON')
    .action(async (flags) => (await import('./worker.ts')).worker(flags));

  clientFlags(program.command('deploy'))
    .description('make dags known, or new versions of them')
    .argument('<files...>', 'definitions as JSON')
    .action(async (files, flags) => (await import('./deploy.ts')).deploy(files, flags));

  runCommands(program.command('runs').description('submit, follow, list and cancel runs'));
  return program;
}

function runCommands(runs: Command): void {
  clientFlags(runs.command('trigger'))
    .description('submit a run of a dag')
    .argument('<dag>')
    .option('--params <json>', 'what its tasks are given')
    .option('--priority <priority>', 'critical, high, normal or low')
    .option('--key <key>', 'idempotency key: the same key gives the same run')
    .option('--wait', 'follow it to its end; exits with 1 unless it succeeded')
    .action(async (dag, flags) => (await import('./runs-trigger.ts')).trigger(dag, flags));

  clientFlags(runs.command('show'))
    .description('a run with its tasks')
    .argument('<id>')
    .action(async (id, flags) => (await import('./runs-show.ts')).show(id, flags));

  clientFlags(runs.command('list'))
    .description('runs, newest first')
    .option('--dag <name>')
    .option('--state <state>', 'queued, open, closing, ended or set_aside')
    .option('--outcome <outcome>', 'succeeded, failed or cancelled')
    .option('--limit <count>', 'how many', wholeNumber, 20)
    .option('--cursor <cursor>', 'where the last page ended')
    .action(async (flags) => (await import('./runs-list.ts')).list(flags));

  clientFlags(runs.command('cancel'))
    .description('end a run')
    .argument('<id>')
    .action(async (id, flags) => (await import('./runs-cancel.ts')).cancel(id, flags));
}

function serverFlags(command: Command): Command {
  return command
    .option('--http <address>', 'where the API listens (SIGNALBOX_HTTP, 127.0.0.1:4500)')
    .option('--grpc <address>', 'where workers and other servers connect (SIGNALBOX_GRPC, 127.0.0.1:4501)')
    .option('--data <folder>', 'data folder (SIGNALBOX_DATA)')
    .option('--database <url>', 'PostgreSQL to use (DATABASE_URL); without one it brings its own')
    .option('--log <level>', 'debug, info, warn, error or silent (SIGNALBOX_LOG)')
    .option('--insecure', 'bind beyond this machine without TLS')
    .option('--json', 'say what was started as JSON');
}

function clientFlags(command: Command): Command {
  return command
    .option('--url <url>', 'the server to ask (SIGNALBOX_URL, http://127.0.0.1:4500)')
    .option('--data <folder>', 'data folder of the server, for its token (SIGNALBOX_DATA)')
    .option('--json', 'answer as JSON');
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number above 0.');
}
