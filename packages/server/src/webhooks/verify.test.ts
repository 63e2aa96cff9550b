import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isSigned, TOLERANCE_MS } from './verify.ts';

const NOW = 1_731_705_121_000;
const SECRET = 'whsec_plJ3nmyCDGBKInavdOK15jsl';
const BODY = Buffer.from('{"event_type":"ping","data":{"success":true}}');
/** The example of the specification. */
const STANDARD = {
  'webhook-id': 'msg_loFOjxBNrRLzqYUf',
  'webhook-timestamp': '1731705121',
  'webhook-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
};

describe('Standard Webhooks', () => {
  const check = (headers: object, { now = NOW, body = BODY, secrets = [SECRET] } = {}) =>
    isSigned('standard', secrets, { headers: { ...STANDARD, ...headers }, body, now });

  test('takes the example of the specification, and one of several signatures or secrets', () => {
    expect(check({})).toBe(true);
    expect(check({ 'webhook-signature': `v1a,xyz v1,AAAA ${STANDARD['webhook-signature']}` })).toBe(true);
    expect(check({}, { secrets: ['whsec_AAAA', SECRET] })).toBe(true);
  });

  test.each([
    ['another id', { 'webhook-id': 'msg_2' }],
    ['another time', { 'webhook-timestamp': '1731705122' }],
    ['no id', { 'webhook-id': undefined }],
    ['no signature', { 'webhook-signature': undefined }],
    ['a signature of another version', { 'webhook-signature': STANDARD['webhook-signature'].replace('v1', 'v2') }],
    ['a time that is none', { 'webhook-timestamp': 'now' }],
  ])('refuses %s', (_, headers) => expect(check(headers)).toBe(false));

  test('refuses another body, another secret, and an instant beyond the tolerance on either side', () => {
    expect(check({}, { body: Buffer.from('{}') })).toBe(false);
    expect(check({}, { secrets: ['whsec_AAAA'] })).toBe(false);
    expect([-1, 1].map((side) => check({}, { now: NOW + side * TOLERANCE_MS }))).toEqual([true, true]);
    expect([-1, 1].map((side) => check({}, { now: NOW + side * (TOLERANCE_MS + 1) }))).toEqual([false, false]);
  });
});

test('GitHub: takes the example of its documentation, and no other', () => {
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const check = (given: string | undefined, body = 'Hello, World!') =>
    isSigned('github', ["It's a Secret to Everybody"], {
      headers: { 'x-hub-signature-256': given },
      body: Buffer.from(body),
      now: NOW,
    });
  expect(check(signature)).toBe(true);
  expect([check(signature, 'Hello, World'), check(signature.slice(7)), check(''), check(undefined)]).toEqual(
    Array(4).fill(false),
  );
});

test('Stripe: the instant is signed, and too old a call is refused', () => {
  const at = NOW / 1000;
  const v1 = createHmac('sha256', 'whsec_x').update(`${at}.`).update(BODY).digest('hex');
  const check = (signature: string, now = NOW) =>
    isSigned('stripe', ['whsec_x'], { headers: { 'stripe-signature': signature }, body: BODY, now });
  expect(check(`t=${at},v1=${v1},v0=old`)).toBe(true);
  expect(check(`t=${at},v1=00,v1=${v1}`)).toBe(true);
  expect([check(`t=${at + 1},v1=${v1}`), check(`v1=${v1}`), check(`t=${at}`), check('')]).toEqual(Array(4).fill(false));
  expect(check(`t=${at},v1=${v1}`, NOW + TOLERANCE_MS + 1)).toBe(false);
});

test('a token must be the secret, in one of three headers', () => {
  const check = (headers: Record<string, string>) =>
    isSigned('token', ['the-secret'], { headers, body: BODY, now: NOW });
  expect(check({ 'x-webhook-token': 'the-secret' })).toBe(true);
  expect(check({ 'x-gitlab-token': 'the-secret' })).toBe(true);
  expect(check({ authorization: 'Bearer the-secret' })).toBe(true);
  expect([check({}), check({ 'x-webhook-token': 'the-secre' }), check({ authorization: 'the-secret' })]).toEqual([
    false,
    false,
    false,
  ]);
});
