import { expect, test } from 'vitest';
import { clearTextBeyondLoopback, Gateways, parseGateway } from './gateways.ts';

test.each([
  ['127.0.0.1:7412', { target: '127.0.0.1:7412', tls: false }],
  ['http://box:7412/', { target: 'box:7412', tls: false }],
  ['https://box.example:443', { target: 'box.example:443', tls: true }],
  ['[::1]:7412', { target: '[::1]:7412', tls: false }],
])('%s is an address', (address, expected) => {
  expect(parseGateway(address)).toEqual(expected);
});

test.each(['', 'box', 'box:', 'ftp://box:1', 'box:1/path', 'a b:1'])('"%s" is none', (address) => {
  expect(() => parseGateway(address)).toThrow('is no address');
});

test('the current gateway stays the current one when others are learnt; all get their turn', () => {
  const gateways = new Gateways(['a:1', 'b:1']);
  gateways.moveOn();
  gateways.learn(['a:1', 'c:1', 'nonsense']);
  const turns = [1, 2, 3, 4].map(() => {
    const { target } = gateways.current;
    gateways.moveOn();
    return target;
  });
  expect(turns[0]).toBe('b:1');
  expect(new Set(turns)).toEqual(new Set(['a:1', 'b:1', 'c:1']));
});

test('a list of a gateway with TLS does not lead to one without', () => {
  const gateways = new Gateways(['https://a:1']);
  gateways.learn(['b:1', 'http://a:1']);
  expect(gateways.current).toEqual({ target: 'a:1', tls: true });
  gateways.moveOn();
  expect(gateways.current).toEqual({ target: 'b:1', tls: true });
});

test('clear text is for loopback', () => {
  const addresses = ['127.0.0.1:1', 'localhost:1', '[::1]:1', '10.0.0.1:1', 'localhost.evil.example:1', 'https://b:1'];
  expect(clearTextBeyondLoopback(addresses)).toEqual(['10.0.0.1:1', 'localhost.evil.example:1']);
});

test('a gateway that names none, as one that stops may, takes nothing from what the worker knows', () => {
  const gateways = new Gateways(['a:1']);
  gateways.learn(['a:1', 'b:1']);
  gateways.learn([]);
  expect(gateways.count).toBe(2);
  gateways.moveOn();
  expect(gateways.current.target).toBe('b:1');
});
