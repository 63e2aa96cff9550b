import { expect, test } from 'vitest';
import { AddressPolicy, parseAllow, plainAddress } from './address-policy.ts';

const none = new AddressPolicy([], { name: 'worker', remedy: '' });

test.each([
  ['127.0.0.1', false],
  ['127.8.9.1', false],
  ['0.0.0.0', false],
  ['10.1.2.3', false],
  ['172.16.0.1', false],
  ['172.32.0.1', true],
  ['192.168.1.1', false],
  ['169.254.169.254', false],
  ['100.64.0.1', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['8.8.8.8', true],
  ['::1', false],
  ['::', false],
  ['fe80::1', false],
  ['fe80::1%eth0', false],
  ['fc00::1', false],
  ['fd12::1', false],
  ['ff02::1', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:7f00:1', false],
  ['::ffff:8.8.8.8', true],
  ['64:ff9b::7f00:1', false],
  ['2002:7f00:1::', false],
  ['2001:db8::1', false],
  ['2606:4700:4700::1111', true],
])('%s may be called: %s (I70)', (address, allowed) => {
  expect(none.allows('host', address)).toBe(allowed);
});

test.each([
  ['10.0.0.0/8', 'x', '10.9.9.9', true],
  ['10.0.0.0/8', 'x', '11.0.0.1', true],
  ['10.0.0.0/8', 'x', '192.168.0.1', false],
  ['127.0.0.1', 'x', '127.0.0.1', true],
  ['127.0.0.1', 'x', '127.0.0.2', false],
  ['fd00::/8', 'x', 'fd12::1', true],
  ['Intra.Example', 'intra.example', '10.0.0.1', true],
  ['intra.example', 'other.example', '10.0.0.1', false],
  ['127.0.0.0/8', 'x', '::ffff:127.0.0.1', true],
])('with %s allowed, %s at %s may be called: %s', (entry, host, address, allowed) => {
  expect(new AddressPolicy(parseAllow([entry]), { name: 'worker', remedy: '' }).allows(host, address)).toBe(allowed);
});

test.each(['http://x', '10.0.0.0/33', '10.0.0/8', 'a/b/c', '', '10.0.0.0/8/8'])('%j can’t be allowed', (entry) => {
  expect(() => parseAllow([entry])).toThrow(TypeError);
});

test.each(['http://2130706433/', 'http://0x7f.1/', 'http://017700000001/', 'http://127.1/', 'http://[::1]/'])(
  '%s is refused as what it is',
  (written) => {
    expect(() => none.checkLiteral(new URL(written), written)).toThrow(/may not call/);
  },
);

test.each(['http://0x08080808/', 'http://134744072/', 'http://010.8.8.8/', 'http://user@8.526344/'])(
  '%s is refused as an odd way to write an address, though a public one',
  (written) => {
    expect(() => none.checkLiteral(new URL(written), written)).toThrow(/odd way/);
  },
);

test.each([
  'http://8.8.8.8/',
  'http://user:p@8.8.8.8:80/x?y',
  'http://[2606:4700:4700::1111]:80/',
  'http://example.com/',
])('%s is written plainly', (written) => {
  expect(() => none.checkLiteral(new URL(written), written)).not.toThrow();
});

test('an address has one form', () => {
  expect(plainAddress('[::ffff:127.0.0.1]')).toBe('127.0.0.1');
  expect(plainAddress('0:0:0:0:0:FFFF:7f00:0001')).toBe('127.0.0.1');
  expect(plainAddress('example.com')).toBe('example.com');
});
