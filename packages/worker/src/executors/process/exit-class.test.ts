import { expect, test } from 'vitest';
import { exitClass, exitCodeOf, type ProcessEnd } from './exit-class.ts';

const end = (more: Partial<ProcessEnd>): ProcessEnd => ({
  code: null,
  signal: null,
  ranOut: null,
  stderr: '',
  ...more,
});

test.each<[string, Partial<ProcessEnd>, string, string]>([
  ['no fault', { code: 0 }, 'succeeded', 'exit:0'],
  ['any fault', { code: 1 }, 'transient', 'exit:1'],
  ['EX_TEMPFAIL', { code: 75 }, 'transient', 'exit:75'],
  ['EX_USAGE', { code: 64 }, 'permanent', 'exit:64'],
  ['EX_CONFIG', { code: 78 }, 'permanent', 'exit:78'],
  ['EX_UNAVAILABLE', { code: 69 }, 'transient', 'exit:69'],
  ['no such command', { code: 127 }, 'permanent', 'exit:127'],
  ['SIGKILL of nobody', { signal: 'SIGKILL' }, 'resource', 'signal:SIGKILL'],
  ['SIGKILL below a shell', { code: 137 }, 'resource', 'exit:137'],
  ['SIGKILL, and the kernel says it was for memory', { signal: 'SIGKILL', ranOut: true }, 'resource', 'signal:SIGKILL'],
  ['SIGKILL, and the kernel says it was not', { signal: 'SIGKILL', ranOut: false }, 'transient', 'signal:SIGKILL'],
  ['a full heap', { code: 134, stderr: 'FATAL ERROR: JavaScript heap out of memory' }, 'resource', 'exit:134'],
  ['an abort', { signal: 'SIGABRT' }, 'transient', 'signal:SIGABRT'],
  ['a fault of memory', { signal: 'SIGSEGV' }, 'transient', 'signal:SIGSEGV'],
])('%s is %s', (_, more, outcome, code) => {
  expect(exitClass(end(more), undefined)).toBe(outcome);
  expect(exitCodeOf(end(more))).toBe(code);
});

test('what the task says comes first', () => {
  expect(exitClass(end({ code: 1 }), { '1-9': 'permanent', '3': 'succeeded' })).toBe('permanent');
  expect(exitClass(end({ code: 3 }), { '1-9': 'permanent', '3': 'succeeded' })).toBe('succeeded');
  expect(exitClass(end({ code: 78 }), { '1-9': 'permanent' })).toBe('permanent');
  expect(exitClass(end({ code: 137 }), { '137': 'transient' })).toBe('transient');
});
