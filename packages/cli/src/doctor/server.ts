/** The server's ports, its health, its workers. */
import { type NodeView, nodePageSchema } from '@signalbox/protocol';
import { type BindAddress, showAddress } from '@signalbox/server/config';
import { commandOf, holderOf, isFree } from '../start/ports.ts';
import { type Finding, fail, ok, warn } from './check.ts';
import { checkWork } from './work.ts';

const ANSWER_WITHIN_MS = 2_000;
const CLOCK_WARN_MS = 500;

/** A port is well when it is free, or when a Signalbox holds it. */
export async function checkPort(name: string, bind: BindAddress): Promise<Finding> {
  const check = `port ${bind.port}`;
  const what = `${showAddress(bind)} (${name})`;
  if (bind.port === 0 || (await isFree(bind.host, bind.port))) return ok(check, `${what} is free`);
  const holder = holderOf(bind.port);
  if (holder === null)
    return warn(
      check,
      `${what} is in use by a process that you cannot see.`,
      `Check as root: ss -ltnp "sport = :${bind.port}"`,
    );
  const who = `process ${holder.pid}: ${commandOf(holder.pid)}`;
  if (/signalbox/.test(holder.command)) return ok(check, `${what} is in use by Signalbox, ${who}`);
  return fail(check, `${what} is in use by ${who}`, `Stop it, or use another port: --${name} ${bind.host}:<port>`);
}

export async function checkServer(url: string, token: string | null): Promise<Finding[]> {
  const health = await ask(`${url}/readyz`, null);
  if (health === null) return [warn('server', `No server answers at ${url}.`, 'Start one with: npx signalbox start')];
  // A server that is not ready may say why: its clock is wrong.
  const servers = token === null ? [] : await checkServers(url, token);
  if (health.status !== 200) {
    return [
      fail(
        'server',
        `${url} is running but not ready (${health.status}).`,
        'Check its log. The database is unreachable, or shards have no owner yet.',
      ),
      ...servers,
    ];
  }
  const found = [ok('server', `${url} is ready`)];
  if (token === null)
    return [...found, warn('workers', 'Not checked: no token found.', 'Set SIGNALBOX_TOKEN or --data.')];
  const workers = await ask(`${url}/v1/workers`, token);
  if (workers?.status === 401)
    return [
      ...found,
      fail(
        'token',
        'The server rejected this token.',
        "Use the admin.token of the server's data folder: --data <folder>",
      ),
    ];
  const items = (workers?.body as { items?: unknown[] } | null)?.items ?? [];
  found.push(
    items.length > 0
      ? ok('workers', `${items.length} connected`)
      : warn('workers', 'No worker is connected, so tasks wait.', 'Start one with: npx signalbox worker'),
  );
  return [...found, ...servers, ...(await examineWork(url, token))];
}

/** A token that may not read runs, such as a worker's, is no reason not to say the rest. */
async function examineWork(url: string, token: string): Promise<Finding[]> {
  const { createClient } = await import('@signalbox/sdk');
  try {
    return await checkWork(createClient({ url, token, retryForMs: 0 }));
  } catch (error) {
    return [
      warn(
        'runs',
        `Not checked: ${(error as Error).message}`,
        'Use a token with read access: --data or SIGNALBOX_TOKEN.',
      ),
    ];
  }
}

/** What each server tells of its own clock and version. */
async function checkServers(url: string, token: string): Promise<Finding[]> {
  const page = nodePageSchema.safeParse((await ask(`${url}/v1/nodes`, token))?.body);
  return page.success ? [...judgeClocks(page.data.items), ...judgeVersions(page.data.items)] : [];
}

export function judgeClocks(nodes: readonly NodeView[]): Finding[] {
  const measured = nodes.filter(({ clockAheadMs }) => clockAheadMs !== null);
  const wrong = measured.flatMap(({ address, clockAheadMs, unfit }) => {
    const aheadMs = clockAheadMs ?? 0;
    const remedy = `Use NTP on ${address} and on the machine of the database.`;
    if (unfit !== null) return [fail('server clock', `${address} owns no shards. ${unfit}`, remedy)];
    if (Math.abs(aheadMs) <= CLOCK_WARN_MS) return [];
    const message = `The clock of ${address} is ${Math.abs(aheadMs)} ms ${aheadMs < 0 ? 'behind' : 'ahead of'} the database's.`;
    return [warn('server clock', message, remedy)];
  });
  if (wrong.length > 0 || measured.length === 0) return wrong;
  return [ok('server clock', `all ${measured.length} servers agree with the database`)];
}

export function judgeVersions(nodes: readonly NodeView[]): Finding[] {
  const versions = [...new Set(nodes.map(({ version }) => version ?? 'unknown'))].sort();
  if (versions.length < 2) return [];
  const old = 'Finish the upgrade: stop the servers of the old version. Find them with: npx signalbox nodes';
  return [warn('server version', `Servers run different versions: ${versions.join(', ')}.`, old)];
}

async function ask(url: string, token: string | null): Promise<{ status: number; body: unknown } | null> {
  try {
    const answer = await fetch(url, {
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      redirect: 'error',
    });
    return { status: answer.status, body: await answer.json().catch(() => null) };
  } catch {
    return null;
  }
}
