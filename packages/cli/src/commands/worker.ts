/** `signalbox worker`: runs tasks until it is told to stop; then it finishes the running ones (I27). */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MAX_QUEUE_WEIGHT } from '@signalbox/protocol/limits';
import type { Handler } from '@signalbox/sdk';
import type { Worker, WorkerOptions, WorkKind } from '@signalbox/worker';
import { findToken } from '../connection.ts';
import { print } from '../output.ts';
import { CliError } from '../problem.ts';

export interface WorkerFlags {
  readonly handlers?: string;
  readonly slots: number;
  readonly queues?: string;
  readonly resources?: string;
  readonly labels?: string;
  readonly zone?: string;
  readonly spot?: boolean;
  readonly gateway?: string;
  readonly allow?: string;
  readonly httpAllow?: string;
  readonly secrets?: string;
  readonly cache?: string;
  readonly name?: string;
  readonly ca?: string;
  readonly data?: string;
  readonly json?: boolean;
}

const USUAL_GATEWAY = '127.0.0.1:4501';

export async function worker(flags: WorkerFlags): Promise<void> {
  const handlers = flags.handlers === undefined ? {} : await loadHandlers(flags.handlers);
  const token = await findToken(flags);
  const gateways = split(flags.gateway ?? process.env.SIGNALBOX_GATEWAY ?? USUAL_GATEWAY);
  const { startWorker } = await import('@signalbox/worker');
  const rootCertificates = flags.ca === undefined ? null : await readCertificate(flags.ca);
  const running = startWorker({
    gateways,
    token,
    handlers,
    slots: flags.slots,
    queues: queuesOf(flags.queues ?? process.env.SIGNALBOX_QUEUES ?? 'default'),
    ...offersOf(flags),
    ...placesOf(flags),
    // Checked where the worker is started: an unknown kind is refused there.
    ...(flags.allow === undefined ? {} : { allow: split(flags.allow) as WorkKind[] }),
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(rootCertificates === null ? {} : { rootCertificates }),
  });
  endWhenTold(running);
  const isManual = !flags.json && process.send === undefined;
  const unheard = isManual ? setTimeout(sayWhatToCheck, PATIENCE_MS, gateways) : undefined;
  void running.connected.then(() => {
    clearTimeout(unheard);
    process.send?.('connected');
    if (!flags.json) print(`worker ${running.id} is connected${known(Object.keys(handlers))}`);
  });
  await running.stopped;
  process.exit();
}

/** Flags, and in their place variables. */
function offersOf({ resources, labels, zone, spot }: WorkerFlags): Pick<WorkerOptions, 'resources' | 'labels'> {
  const env = process.env;
  const named = pairs('--labels', labels ?? env.SIGNALBOX_LABELS ?? '');
  const place = zone ?? env.SIGNALBOX_ZONE;
  return {
    resources: pairs('--resources', resources ?? env.SIGNALBOX_RESOURCES ?? ''),
    labels: {
      ...named,
      ...(place === undefined || place === '' ? {} : { zone: place }),
      ...(spot === true ? { spot: 'true' } : {}),
    },
  };
}

/** `high=4,default=4,batch=2`, or names alone. A name without a weight among others that have one counts as 1. */
function queuesOf(text: string): NonNullable<WorkerOptions['queues']> {
  const names = split(text);
  if (!names.some((name) => name.includes('='))) return names;
  const weights: Record<string, number> = {};
  for (const part of names) {
    const [name = '', weight = '1', ...rest] = part.split('=').map((one) => one.trim());
    if (name === '' || rest.length > 0 || !/^[1-9]\d*$/.test(weight) || Number(weight) > MAX_QUEUE_WEIGHT)
      throw new CliError(
        `--queues has "${part}".`,
        `Give names with weights from 1 to ${MAX_QUEUE_WEIGHT}, such as high=4,default=4,batch=2, or names alone.`,
      );
    if (Object.hasOwn(weights, name))
      throw new CliError(`--queues names "${name}" twice.`, 'Give each queue one weight.');
    weights[name] = Number(weight);
  }
  return weights;
}

/** `cpu=4,memory=8GiB` */
function pairs(flag: string, text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const part of split(text).filter((one) => one !== '')) {
    const [name = '', ...rest] = part.split('=');
    const value = rest.join('=').trim();
    if (name.trim() === '' || value === '')
      throw new CliError(`${flag} has "${part}".`, 'Give pairs such as name=value, separated by commas.');
    found[name.trim()] = value;
  }
  return found;
}

const PATIENCE_MS = 3_000;

/** The log has the reason of each try; this is for whoever starts it by hand and waits. */
function sayWhatToCheck(gateways: readonly string[]): void {
  process.stderr.write(
    `No server has taken this worker yet; it goes on trying. The reasons are above.
  Check --gateway (${gateways.join(', ')}): use the worker port, and https:// if the server has TLS. Check --ca if you use your own CA, and SIGNALBOX_TOKEN.\n`,
  );
}

/** Ctrl-C in a terminal also reaches whoever started it, such as npx, which passes it on: within this time they are one. */
const SAME_SIGNAL_MS = 300;
/** Nobody is left to be waited for when whoever started it has gone; what it runs has this long to come to its end. */
const ORPHANED_MS = 30_000;

/** The first signal lets it finish what it has; the next one ends that, too. */
function endWhenTold(running: Worker): void {
  let toldAt: number | null = null;
  const end = () => {
    process.exitCode = 1;
    running.kill();
  };
  const stop = () => {
    if (toldAt === null) {
      toldAt = performance.now();
      void running.stop();
    } else if (performance.now() - toldAt > SAME_SIGNAL_MS) end();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, stop);
  // The machine is about to be taken away.
  process.on('SIGUSR2', () => void running.evict());
  process.on('disconnect', () => {
    stop();
    setTimeout(end, ORPHANED_MS).unref();
  });
}

const known = (handlers: readonly string[]): string =>
  handlers.length === 0 ? '' : `; handlers: ${handlers.join(', ')}`;

/** A flag counts before its variable. */
function placesOf({ httpAllow, secrets, cache }: WorkerFlags): Partial<WorkerOptions> {
  const { SIGNALBOX_HTTP_ALLOW, SIGNALBOX_SECRETS, SIGNALBOX_CACHE } = process.env;
  const secretsFolder = secrets ?? SIGNALBOX_SECRETS;
  const cacheFolder = cache ?? SIGNALBOX_CACHE;
  return {
    httpAllow: split(httpAllow ?? SIGNALBOX_HTTP_ALLOW ?? ''),
    ...(secretsFolder === undefined ? {} : { secretsFolder: resolve(secretsFolder) }),
    ...(cacheFolder === undefined ? {} : { cacheFolder: resolve(cacheFolder) }),
  };
}

async function readCertificate(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new CliError(
      `The certificate ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`,
      "Pass the PEM file of the CA that signed the servers' certificates.",
    );
  }
}

async function loadHandlers(file: string): Promise<Record<string, Handler>> {
  const path = resolve(file);
  let loaded: Record<string, unknown>;
  try {
    loaded = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (error) {
    throw new CliError(
      `The handlers in ${path} could not be loaded: ${error instanceof Error ? error.message : String(error)}.`,
      'Pass a JavaScript module (.mjs) that exports functions, such as: export const greet = ({ params }) => …',
    );
  }
  const named = { ...(loaded.default as object | undefined), ...loaded };
  const handlers = Object.entries(named).filter((entry): entry is [string, Handler] => typeof entry[1] === 'function');
  if (handlers.length > 0) return Object.fromEntries(handlers);
  throw new CliError(
    `The module ${path} exports no function.`,
    'Export each handler under the name that your dags use.',
  );
}

function split(text: string): string[] {
  return text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
}
