import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../../testing/rig.ts';
import { text } from './page.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${rig.servers[0]?.url}${path}`, { headers: { authorization: `Bearer ${rig.token}`, ...headers } });

test('the reference is one file that runs nothing but its own script', async () => {
  const answer = await get('/docs');
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'; frame-ancestors 'none'/);
  expect(policy).not.toContain('unsafe');
  const html = await answer.text();
  expect(html).not.toMatch(/(src|href)="https?:/);
  expect(html).not.toMatch(/ on\w+="/);
});

test('a browser without a session is told the way in, and nothing else', async () => {
  const answer = await fetch(`${rig.servers[0]?.url}/`, { headers: { accept: 'text/html' } });
  expect(answer.status).toBe(401);
  expect(await answer.text()).toContain('signalbox login');
  const deep = await fetch(`${rig.servers[0]?.url}/runs/1`, { headers: { accept: 'text/html' } });
  expect([deep.status, (await deep.text()).includes('signalbox login')]).toEqual([401, true]);
  expect((await fetch(`${rig.servers[0]?.url}/docs`)).status).toBe(401);
  expect((await fetch(`${rig.servers[0]?.url}/assets/index.js`)).status).toBe(401);
});

test('text of any origin is text (I69)', () => {
  expect(text(`<img src=x onerror="alert('&')">`)).toBe('&lt;img src=x onerror=&quot;alert(&#39;&amp;&#39;)&quot;&gt;');
});

test('the documents are there, and the docs show every operation', async () => {
  const document = (await (await get('/openapi.json')).json()) as { paths: Record<string, object> };
  const html = await (await get('/docs')).text();
  for (const path of Object.keys(document.paths)) expect(html).toContain(`<code>${path}</code>`);
  expect(((await (await get('/schemas/dag.json')).json()) as { title?: string }).title).toBeTypeOf('string');
});

test('metrics tell what both threads did, as Prometheus reads it', async () => {
  const client = createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });
  await rig.addWorker({ echo: () => null });
  await client.deployDag({ name: 'measured', tasks: [{ name: 'a', handler: 'echo' }] });
  await client.waitForRun((await client.submit('measured')).id);
  await client.getRun('not-there').catch(() => undefined);
  await eventually(async () =>
    (await (await get('/metrics')).text()).includes('signalbox_runs_ended_total{outcome="succeeded"} 1'),
  );
  const answer = await get('/metrics');
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = (await answer.text()).trimEnd().split('\n');
  for (const line of lines) {
    expect(line).toMatch(/^(# (HELP|TYPE) signalbox_\w+ .+|signalbox_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [\d.e+-]+)$/);
  }
  expect(lines).toContain('signalbox_shards_owned 64');
  expect(lines).toContain('signalbox_workers 1');
  expect(lines).toContain('signalbox_http_requests_total{route="/v1/dags/:name/runs",method="POST",status="2xx"} 1');
  expect(lines).toContain('signalbox_http_requests_total{route="/v1/runs/:id",method="GET",status="4xx"} 1');
  expect(lines.some((line) => line.startsWith('signalbox_event_loop_delay_seconds{thread="edge"'))).toBe(true);
  expect(lines.some((line) => line.includes('measured'))).toBe(false);
  const buckets = lines
    .filter((line) => line.startsWith('signalbox_commit_seconds_bucket'))
    .map((line) => Number(line.split(' ')[1]));
  expect(buckets).toEqual([...buckets].sort((a, b) => a - b));
});
