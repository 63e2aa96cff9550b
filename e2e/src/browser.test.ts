/** What a page in the user's browser may do: nothing, unless it is ours and the user has come in by a link (D13, I66). */
import { type Rig, startRig } from '@signalbox/server/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, openBrowser, serveForeignPage } from './browser.ts';

const chromium = findChromium();

describe.skipIf(chromium === null)('in a real browser', () => {
  let rig: Rig;
  let browser: Browser;

  beforeAll(async () => {
    rig = await startRig();
    const dag = { name: 'shell', tasks: [{ name: 'a', run: 'id' }] };
    expect((await rig.ask('PUT', '/v1/dags/shell', dag)).status).toBeLessThan(300);
    browser = await openBrowser(chromium as string);
  });

  afterAll(async () => {
    await browser?.close();
    await rig?.stop();
  });

  const server = () => (rig.servers[0] as { url: string }).url;
  const runCount = async () => (await rig.ask('GET', '/v1/runs?dag=shell')).body.items.length;

  /** Comes in as a person does: by the link, once. */
  async function signIn() {
    const context = await browser.newContext();
    const { body } = await rig.ask('POST', '/v1/login-links', {});
    const link = `${server()}${(body as unknown as { path: string }).path}`;
    const page = await context.newPage();
    const answer = await page.goto(link);
    expect(answer?.status()).toBe(200);
    return { context, page, link };
  }

  /** Ways of a page to send a job without being asked: each says what came of it. */
  const tries = (target: string) => `<!doctype html><title>evil</title>
    <form id="form" method="post" enctype="text/plain" action="${target}/v1/dags/shell/runs" target="frame">
      <input name='{"params":{},"x":"' value='"}'></form><iframe name="frame"></iframe>
    <script>
      const target = ${JSON.stringify(target)};
      const attempt = async (options) => {
        try { const answer = await fetch(target + '/v1/dags/shell/runs', options); return answer.type + ' ' + answer.status; }
        catch (error) { return 'blocked'; }
      };
      window.outcome = (async () => {
        const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
        const results = [
          await attempt({ ...json }),
          await attempt({ ...json, credentials: 'include' }),
          await attempt({ method: 'POST', body: '{}', credentials: 'include', mode: 'no-cors' }),
          await attempt({ method: 'GET', credentials: 'include' }),
          String(navigator.sendBeacon(target + '/v1/dags/shell/runs', '{}')),
        ];
        const frame = document.querySelector('iframe');
        const loaded = new Promise((resolve) => { frame.onload = resolve; });
        document.getElementById('form').submit();
        await Promise.race([loaded, new Promise((resolve) => setTimeout(resolve, 3000))]);
        return results;
      })();
    </script>`;

  test.each([
    ['a stranger', false],
    ['somebody who is signed in', true],
  ])('a page of another origin can not submit a job for %s', async (_, isSignedIn) => {
    const context = isSignedIn ? (await signIn()).context : await browser.newContext();
    const evil = await serveForeignPage(tries(server()));
    const page = await context.newPage();
    const before = await runCount();
    await page.goto(evil.url);
    const results = (await page.evaluate('window.outcome')) as string[];
    // The no-cors request goes out and its answer can't be read; all others are refused before or after.
    expect(results.slice(0, 2)).toEqual(['blocked', 'blocked']);
    expect(results[3]).toBe('blocked');
    expect(await runCount()).toBe(before);
    await evil.close();
    await context.close();
  });

  test('our own page may, once the user has come in by the link; the link works once', async () => {
    const { context, page, link } = await signIn();
    const submit = `fetch('/v1/dags/shell/runs', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }).then((answer) => answer.status)`;
    const before = await runCount();
    expect(await page.evaluate(submit)).toBe(201);
    expect(await runCount()).toBe(before + 1);
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(page.url()).not.toContain('code=');
    const stranger = await browser.newContext();
    const again = await (await stranger.newPage()).goto(link);
    expect(again?.status()).toBeGreaterThanOrEqual(400);
    await stranger.close();
    await context.close();
  });

  test('a name that resolves to our address is not our name: a page behind it gets nothing', async () => {
    const { port } = new URL(server());
    const page = await browser.newPage();
    const answer = await page.goto(`http://evil.example:${port}/healthz`);
    expect(answer?.status()).toBe(421);
    const read = `fetch('/v1/runs', { headers: { authorization: 'Bearer ${rig.token}' } }).then((got) => got.status, () => 'blocked')`;
    expect([421, 'blocked']).toContain(await page.evaluate(read));
    await page.close();
  });
});

describe('from the command line', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.stop());

  test.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['an opaque origin', { origin: 'null' }],
    ['no token', { authorization: '' }],
    ['a made-up token', { authorization: 'Bearer sbx_made_up_made_up_made_up' }],
    ['another scheme', { authorization: 'Basic YWRtaW46YWRtaW4=' }],
  ] as [string, Record<string, string>][])('a request with %s is refused and changes nothing', async (_, headers) => {
    const before = await rig.sql('select count(*) from dag');
    const definition = { name: 'x', tasks: [{ name: 'a', run: 'id' }] };
    const { status, body } = await rig.ask('PUT', '/v1/dags/x', definition, { headers });
    expect([401, 403, 421]).toContain(status);
    expect(body.code).toMatch(/UNAUTHENTICATED|WRONG_HOST|FORBIDDEN/);
    expect(await rig.sql('select count(*) from dag')).toEqual(before);
  });
});
