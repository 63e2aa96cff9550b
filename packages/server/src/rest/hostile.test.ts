import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';
import { OPERATIONS, type Operation } from './operations/index.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.ask('PUT', '/v1/dags/there', { name: 'there', tasks: [{ name: 'a', handler: 'h', queue: 'nobody' }] });
});
afterAll(() => rig.stop());

const NAMES = [
  '..%2F..%2Fetc%2Fpasswd',
  '%2e%2e',
  '.',
  '%00',
  '%0d%0aSet-Cookie:%20a=b',
  '%ff%fe',
  '%',
  "'%20or%201=1%20--",
  '%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E',
  '%E2%80%AE%F0%9F%92%A9',
  '__proto__',
  'constructor',
  '-1',
  '1e309',
  '9999999999999999999999',
  'NaN',
  '%24%7B%7B%20secrets.X%20%7D%7D',
  'a'.repeat(201),
  'a'.repeat(5_000),
];
const QUERIES = [
  'limit=-1',
  'limit=0',
  'limit=501',
  'limit=1e99',
  'limit=NaN',
  'limit=1&limit=2',
  'limit[]=1',
  'cursor=',
  'cursor=%00',
  'cursor=9999999999999999999999',
  `cursor=${'9'.repeat(5_000)}`,
  'cursor=__proto__',
  'after=%27',
  'after=AQ',
  'from=never',
  'kind=nothing',
  'state=nothing',
  'run=x',
  'dag=..',
  'follow=maybe',
  'unknown=1',
  '__proto__[a]=1',
  'code=x',
];
const BODIES = [
  '',
  'null',
  '[]',
  '"text"',
  '17',
  '{',
  '{}{}',
  '{"__proto__":{"isAdmin":true}}',
  '{"constructor":{"prototype":1}}',
  `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  `{"params":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`,
  '{"name":null,"role":"god"}',
  '{"name":"x","role":["admin"]}',
  '{"name":"there","tasks":[]}',
  '{"name":"there","tasks":[{"name":"a","handler":"h","needs":["a"]}]}',
  '{"name":"there","tasks":[{"name":"a","handler":"h","timeout":-1}]}',
  '{"name":"there","tasks":[{"name":"a","handler":"h"}],"schedule":{"cron":"61 * * * *"}}',
  '{"name":"there","tasks":[{"name":"a","handler":"h"}],"schedule":{"cron":"* * * * *","zone":"Nowhere/At_All"}}',
  '{"runs":{}}',
  '{"runs":[1]}',
  '{"priority":"urgent"}',
  '{"params":1e999}',
  '{"payload":"\\u0000\\ud800"}',
  '\ufeff{}',
];
const fit = { id: '01a1e0f6-9382-7972-ae81-833005000000', hash: 'ab'.repeat(32), n: 'last', no: '1' } as Record<
  string,
  string
>;

/** The path with one parameter replaced by something hostile, or none. */
function pathOf({ path }: Operation, hostile: string | null): string {
  let isUsed = false;
  return path.replaceAll(/:(\w+)/g, (_, name: string) => {
    if (hostile === null || isUsed) return fit[name] ?? 'there';
    isUsed = true;
    return hostile;
  });
}

async function send({ method }: Operation, path: string, body?: string) {
  const response = await fetch(`${rig.servers[0]?.url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${rig.token}`,
      accept: 'application/json',
      ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
    },
    signal: AbortSignal.timeout(10_000),
    ...(body === undefined || method === 'GET' ? {} : { body }),
  });
  const text = await response.text();
  return { status: response.status, text, type: response.headers.get('content-type') ?? '' };
}

function expectCalm(what: string, { status, text, type }: Awaited<ReturnType<typeof send>>): void {
  expect([what.slice(0, 200), status < 500 ? 'calm' : `${status} ${text.slice(0, 200)}`]).toEqual([
    what.slice(0, 200),
    'calm',
  ]);
  if (status < 400 || type.startsWith('text/html')) return;
  expect([what.slice(0, 200), type.split(';')[0]]).toEqual([what.slice(0, 200), 'application/problem+json']);
  expect(JSON.parse(text)).toMatchObject({ code: expect.any(String), remedy: expect.any(String) });
}

const withParams = OPERATIONS.filter(({ path }) => path.includes(':'));
test.each(withParams)(
  'hostile names in the path of $method $path are refused with a reason (I68, I69)',
  async (operation) => {
    for (const name of NAMES) expectCalm(name, await send(operation, pathOf(operation, name), '{}'));
  },
);

const questions = OPERATIONS.filter(({ method, id }) => method === 'GET' && id !== 'login');
test.each(questions)('hostile queries of GET $path are refused with a reason (I68)', async (operation) => {
  for (const query of QUERIES) {
    expectCalm(query, await send(operation, `${pathOf(operation, null)}?${query}`));
  }
});

const changes = OPERATIONS.filter(({ method }) => method !== 'GET');
test.each(changes)('hostile bodies of $method $path are refused with a reason (I68)', async (operation) => {
  for (const body of BODIES) expectCalm(body, await send(operation, pathOf(operation, null), body));
});

test('after all that the server is as it was', async () => {
  expect((await rig.ask('GET', '/v1/dags/there')).body).toMatchObject({ name: 'there', version: 1 });
  expect(Object.hasOwn(Object.prototype, 'isAdmin')).toBe(false);
  expect((await rig.ask('GET', '/readyz')).status).toBe(200);
});
