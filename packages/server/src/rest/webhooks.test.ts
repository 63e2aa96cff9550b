import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.ask('PUT', '/v1/dags/hooked', {
    name: 'hooked',
    on: [
      {
        type: 'webhook.*',
        params: { type: '${{ event.type }}', data: '${{ event.data }}', headers: '${{ event.headers }}' },
      },
    ],
    tasks: [{ name: 'a', handler: 'echo' }],
  });
});
afterAll(() => rig.stop());

interface Made {
  readonly id: string;
  readonly secret: string;
}

const create = async (scheme: string, more: object = {}) =>
  (await rig.ask('POST', '/v1/webhooks', { dag: 'hooked', scheme, ...more })).body as unknown as Made;

async function deliver(id: string, body: string, headers: Record<string, string>) {
  const answer = await fetch(`${rig.servers[0]?.url}/v1/webhooks/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return {
    status: answer.status,
    body: (await answer.json()) as { code?: string; runs?: { id: string }[]; matched?: boolean },
  };
}
const nowS = () => Math.floor(Date.now() / 1000);
const paramsOf = async (run = '') =>
  ((await rig.ask('GET', `/v1/runs/${run}`)).body as unknown as { params: Record<string, unknown> }).params;

function standard({ secret }: Made, body: string, { id = 'msg_1', at = nowS() } = {}) {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,AAAA v1,${signature}` };
}
const github = ({ secret }: Made, body: string, event = 'push') => ({
  'x-github-event': event,
  'x-github-delivery': 'guid',
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});
const stripe = (secret: string, body: string, at = nowS()) => ({
  'stripe-signature': `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')},v0=x`,
});

describe('a signed call starts a run of its dag', () => {
  test('Standard Webhooks: once for each id, however often it is delivered', async () => {
    const made = await create('standard');
    const body = '{"n":1}';
    const first = await deliver(made.id, body, standard(made, body));
    expect([first.status, first.body.matched]).toEqual([200, true]);
    expect(await paramsOf(first.body.runs?.[0]?.id)).toMatchObject({ type: 'webhook.standard', data: { n: 1 } });
    expect((await deliver(made.id, body, standard(made, body))).body).toEqual(first.body);
    const other = await deliver(made.id, body, standard(made, body, { id: 'msg_2' }));
    expect(other.body.runs?.[0]?.id).not.toBe(first.body.runs?.[0]?.id);
  });

  test('GitHub: the event is in the type, and a replay under another delivery id starts nothing', async () => {
    const made = await create('github');
    const body = '{"ref":"main"}';
    const first = await deliver(made.id, body, github(made, body));
    const params = await paramsOf(first.body.runs?.[0]?.id);
    expect(params).toMatchObject({ type: 'webhook.github.push', headers: { 'x-github-event': 'push' } });
    expect(JSON.stringify(params)).not.toContain('sha256=');
    const replay = { ...github(made, body), 'x-github-delivery': 'another' };
    expect((await deliver(made.id, body, replay)).body.runs).toEqual(first.body.runs);
  });

  test('Stripe: with the secret that Stripe made', async () => {
    const made = await create('stripe', { secret: 'whsec_of_stripe_itself' });
    expect(made.secret).toBeNull();
    const body = '{"id":"evt_1","type":"invoice.paid"}';
    const answer = await deliver(made.id, body, stripe('whsec_of_stripe_itself', body));
    expect(await paramsOf(answer.body.runs?.[0]?.id)).toMatchObject({ type: 'webhook.stripe.invoice.paid' });
    const again = await deliver(made.id, body, stripe('whsec_of_stripe_itself', body, nowS() - 10));
    expect(again.body.runs).toEqual(answer.body.runs);
  });

  test('a token in a header', async () => {
    const made = await create('token');
    const plain = await deliver(made.id, 'hello', { 'content-type': 'text/plain', 'x-webhook-token': made.secret });
    expect(await paramsOf(plain.body.runs?.[0]?.id)).toMatchObject({ type: 'webhook.token', data: 'hello' });
    expect(JSON.stringify(await paramsOf(plain.body.runs?.[0]?.id))).not.toContain(made.secret);
    expect((await deliver(made.id, '{}', { authorization: `Bearer ${made.secret}` })).status).toBe(200);
  });
});

describe('refused', () => {
  const BODY = '{"n":1}';
  test.each([
    ['without a signature', () => ({})],
    ['with the signature of another body', (made: Made) => standard(made, '{"n":2}')],
    ['with another secret', (made: Made) => standard({ ...made, secret: `whsec_${'A'.repeat(44)}` }, BODY)],
    ['from too long ago', (made: Made) => standard(made, BODY, { at: nowS() - 900 })],
    ['from the future', (made: Made) => standard(made, BODY, { at: nowS() + 900 })],
    ['without an id', (made: Made) => ({ ...standard(made, BODY), 'webhook-id': '' })],
  ])('a call %s', async (_, headersOf) => {
    const made = await create('standard');
    const { status, body } = await deliver(made.id, BODY, headersOf(made));
    expect([status, body.code]).toEqual([401, 'WEBHOOK_REFUSED']);
  });

  test('Stripe’s from too long ago, and GitHub’s with a wrong signature', async () => {
    const ours = await create('stripe', { secret: 'whsec_of_stripe_itself' });
    const old = await deliver(ours.id, BODY, stripe('whsec_of_stripe_itself', BODY, nowS() - 900));
    const hub = await create('github');
    const wrong = await deliver(hub.id, BODY, { ...github(hub, BODY), 'x-hub-signature-256': 'sha256=00' });
    expect([old.status, wrong.status]).toEqual([401, 401]);
  });

  test('an unknown webhook is refused like a wrong signature, and recorded in the audit', async () => {
    const unknown = await deliver('0198c0de-0000-4000-8000-000000000000', BODY, {});
    expect([unknown.status, unknown.body.code]).toEqual([401, 'WEBHOOK_REFUSED']);
    const audit = await rig.ask('GET', '/v1/audit?action=webhook.refused');
    expect(JSON.stringify(audit.body)).toContain('webhook.refused');
  });

  test('a body that is too large', async () => {
    const made = await create('github');
    const body = `"${'x'.repeat(300_000)}"`;
    expect((await deliver(made.id, body, github(made, body))).status).toBe(413);
  });

  test('one that was deleted, at once', async () => {
    const made = await create('github');
    expect((await rig.ask('DELETE', `/v1/webhooks/${made.id}`)).status).toBe(200);
    expect((await deliver(made.id, BODY, github(made, BODY))).status).toBe(401);
    expect((await rig.ask('DELETE', `/v1/webhooks/${made.id}`)).status).toBe(404);
  });
});

test('after a rotation both secrets hold, and without a grace only the new one', async () => {
  const made = await create('github');
  const rotate = async (more: object) =>
    (await rig.ask('POST', `/v1/webhooks/${made.id}/rotate`, more)).body as unknown as Made;
  const next = await rotate({});
  expect(next.secret).not.toBe(made.secret);
  const statusOf = async (by: Made, body: string) => (await deliver(made.id, body, github(by, body))).status;
  expect([await statusOf(made, '{"a":1}'), await statusOf(next, '{"a":2}')]).toEqual([200, 200]);
  const last = await rotate({ keepOld: '1ms' });
  expect([await statusOf(next, '{"a":3}'), await statusOf(last, '{"a":4}')]).toEqual([401, 200]);
});

test('secrets are in no row and no list; a given one is sealed (I67)', async () => {
  const made = await create('github');
  await create('stripe', { secret: 'whsec_not_to_be_seen' });
  const rows = JSON.stringify(await rig.sql(`select webhook::text, encode(sealed, 'escape') from webhook`));
  const list = JSON.stringify((await rig.ask('GET', '/v1/webhooks')).body);
  for (const secret of [made.secret, 'whsec_not_to_be_seen']) {
    expect(rows).not.toContain(secret);
    expect(list).not.toContain(secret);
  }
});

test('a key creates one webhook, with the same secret, and other tenants do not see it (I11, I65)', async () => {
  const headers = { 'idempotency-key': 'hook-1' };
  const make = () => rig.ask('POST', '/v1/webhooks', { dag: 'hooked', scheme: 'github' }, { headers });
  const first = await make();
  expect((await make()).body).toEqual(first.body);
  await rig.sql(`insert into tenant values (7, 'others')`);
  const sha256 = createHash('sha256').update('a-token-of-the-others').digest('hex');
  await rig.sql(
    `insert into api_token (sha256, tenant_id, name, role) values (decode('${sha256}', 'hex'), 7, 'theirs', 'admin')`,
  );
  const others = { headers: { authorization: 'Bearer a-token-of-the-others' } };
  const { id } = first.body as unknown as Made;
  expect((await rig.ask('GET', '/v1/webhooks', undefined, others)).body).toMatchObject({ items: [] });
  expect((await rig.ask('DELETE', `/v1/webhooks/${id}`, undefined, others)).status).toBe(404);
  expect((await rig.ask('POST', `/v1/webhooks/${id}/rotate`, {}, others)).status).toBe(404);
});

test('a dag that does not exist has no webhook', async () => {
  expect((await rig.ask('POST', '/v1/webhooks', { dag: 'nowhere' })).body.code).toBe('DAG_NOT_FOUND');
});
